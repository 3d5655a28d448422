"""Reports in a real browser: tables are sorted and copied, points named, series hidden, all by the keyboard too; doubts
are no tab stops, no label is cut off or leaves its picture, and nothing is written to the console.

usage: report.py WEBDRIVER REPORT...

WEBDRIVER is where chromedriver listens. It starts nothing itself.
"""

import pathlib
import sys

from monitor import ENTER, TAB, Browser

RIGHT, DOWN = "\ue014", "\ue015"
TAB_STOPS_MAX = 80
WIDTHS = (360, 1200, 1920)

SORTED = """
  const columnOf = (table) => [...table.tHead.rows[0].cells].findIndex((head) => head.textContent.startsWith("CPU"));
  const table = [...document.querySelectorAll(".cells")].find((table) => columnOf(table) > 0);
  const column = columnOf(table), heads = table.tHead.rows[0].cells;
  const texts = () => [...table.tBodies].flatMap((body) => [...body.rows]).map((row) => row.cells[column].textContent);
  const found = [[null, texts()]];
  for (let click = 0; click < 3; click++) {
    heads[column].querySelector("button").click();
    found.push([heads[column].getAttribute("aria-sort"), texts()]);
  }
  return found;
"""
CUT = """
  const of = (picture, text) => [picture.getBoundingClientRect(), text.getBoundingClientRect()];
  const isCut = (picture, text) => {
    const [whole, part] = of(picture, text);
    return part.left < whole.left - 4 || part.right > whole.right + 4 || text.textContent.includes("…");
  };
  const shown = [...document.querySelectorAll("svg.chart")].filter((svg) => svg.getBoundingClientRect().width);
  return shown.flatMap((svg) => [...svg.querySelectorAll("text")].filter((text) => isCut(svg, text)).map((text) => text.textContent));
"""
CHART = "[...document.querySelectorAll('svg[tabindex]')].find((svg) => svg.getBoundingClientRect().width)"


def number(text):
    return float(text.split(" ")[0].replace(",", ""))


def tables(page):
    begun, *found = page.run(SORTED)
    assert [sort for sort, _ in found] == ["ascending", "descending", None], found
    values = [number(text) for text in found[0][1] if text[:1].isdigit()]
    assert values == sorted(values) and found[2][1] == begun[1], found
    copied = []
    page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    for place in (0, 1):
        page.run("document.querySelectorAll('.copy')[0].children[arguments[0]].click()", place)
        copied.append(page.until("something is copied", lambda: page.run("return window.copied")))
        page.run("window.copied = null")
    assert copied[0].startswith("| ") and copied[0].splitlines()[1].startswith("|--"), copied[0][:200]
    assert "," in copied[1] and not copied[1].startswith("|"), copied[1][:200]


def charts(page):
    def tip():
        return page.run("return [...document.querySelectorAll('.tip:not([hidden]) > *')].map((part) => part.textContent)")

    page.run(f"{CHART}.focus()")
    page.press(RIGHT)
    first = tip()
    page.press(DOWN)
    second = tip()
    assert first[0] != second[0] and len(second) == 3, (first, second)
    page.press(ENTER)
    assert page.run("return document.querySelectorAll('[data-series].off').length") == 1 and not tip()
    page.press(ENTER)
    assert page.run("return document.querySelectorAll('.off').length") == 0


def tab_stops(page):
    page.run("document.activeElement.blur()")
    for stops in range(TAB_STOPS_MAX + 1):
        page.press(TAB)
        if page.run("const at = document.activeElement; const end = at === document.body || at.seen; at.seen = true; return end"):
            return stops
        assert not page.run("return Boolean(document.activeElement.closest('sup'))"), "a doubt is a tab stop"
    raise AssertionError(f"over {TAB_STOPS_MAX} tab stops")


def main():
    driver, *reports = sys.argv[1:]
    page = Browser(driver)
    try:
        for report in reports:
            page.ask("POST", "/url", {"url": pathlib.Path(report).resolve().as_uri()})
            page.size(1200, 900)
            stops = tab_stops(page)
            tables(page)
            charts(page)
            for width in WIDTHS:
                page.size(width, 900)
                beyond = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert beyond <= 0 and not page.run(CUT), (report, width, beyond, page.run(CUT))
            assert not page.log("browser"), page.log("browser")
            print(f"{report}: {stops} tab stops")
    finally:
        page.ask("DELETE", "")


if __name__ == "__main__":
    main()
