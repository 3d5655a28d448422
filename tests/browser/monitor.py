"""The operator's page in a real browser: figures move, nothing foreign is asked for, nothing is written to the console,
it works without a mouse, on a narrow screen, in light and dark, and says when nobody answers.

usage: monitor.py WEBDRIVER ADMIN SERVICE [FOLDER]

WEBDRIVER is where chromedriver listens, ADMIN and SERVICE are the gateway's addresses, FOLDER takes pictures. It starts
nothing itself, and speaks W3C WebDriver with nothing but Python's own library.
"""

import base64
import itertools
import json
import pathlib
import sys
import threading
import time
import urllib.error
import urllib.request

DEADLINE_S = 60
# An answer takes so long of the second between two of them, where it is to be slow.
ANSWER_MS = 700
TAB, ENTER, LEFT, ESCAPE = "\ue004", "\ue007", "\ue012", "\ue00c"


class Browser:
    """One session of a browser."""

    def __init__(self, driver):
        self.session = driver
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1300,1000"],
        }
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = f"{driver}/session/{session['sessionId']}"

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.session + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()}") from error

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent", selector)

    def number(self, pointer):
        return int(self.text(f'[data-at="{pointer}"]').replace(",", ""))

    def until(self, what, holds):
        deadline = time.monotonic() + DEADLINE_S
        while not (result := holds()):
            assert time.monotonic() < deadline, f"{what}: not within {DEADLINE_S} s"
            time.sleep(0.1)
        return result

    def press(self, *keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def network(self, offline=False, latency_ms=0):
        self.devtools("Network.enable")
        self.devtools("Network.emulateNetworkConditions", offline=offline, latency=latency_ms, downloadThroughput=-1, uploadThroughput=-1)

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def log(self, kind):
        return self.ask("POST", "/se/log", {"type": kind})

    def picture(self, folder, name):
        if folder:
            shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=False)
            pathlib.Path(folder, f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def size(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def theme(self, name):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])


class Load:
    """Requests as fast as they are answered, until it ends. A `{}` in a path is another number each time, so that no cache
    answers."""

    def __init__(self, service, paths):
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.ask, args=(service + path,)) for path in paths]
        for thread in self.threads:
            thread.start()

    def ask(self, url):
        numbers = itertools.count(1000)
        while not self.ended.is_set():
            try:
                urllib.request.urlopen(url.format(next(numbers)), timeout=60).read()
            except urllib.error.HTTPError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()


def contact(browser):
    return browser.text("#contact")


def figures_move(browser, service, folder):
    browser.until("the page is alive", lambda: contact(browser) == "serving")
    before = browser.number("/requests/received")
    with Load(service, ["/rest/flights/AA/0017/20110601", "/fibonacci?n=33&bytes={}", "/fibonacci?n=34&bytes={}", "/rest/nothing"]):
        browser.until("requests are counted", lambda: browser.number("/requests/received") > before + 20)
        browser.until("a work process shows its request", lambda: browser.run(
            "return [...document.querySelectorAll('.board tr[data-state=working]')]"
            ".some((row) => /GET\\s+\\/fibonacci$/.test(row.querySelector('.request').textContent))"))
        browser.until("answers of 4xx are counted", lambda: browser.number("/listeners/0/requests/answered/4xx") > 0)
        charts = "return [...document.querySelectorAll('#charts .line')].map((line) => line.getAttribute('d').length)"
        browser.until("the charts have lines", lambda: min(browser.run(charts)) > 20)
        time.sleep(6)
        for theme in ("light", "dark"):
            browser.theme(theme)
            browser.picture(folder, f"wide-{theme}")
    browser.theme("light")


def works_without_a_mouse(browser):
    seen = []
    for _ in range(26):
        browser.press(TAB)
        seen.append(browser.run(
            "const at = document.activeElement, style = getComputedStyle(at);"
            "return [at.id || at.getAttribute('href') || at.getAttribute('aria-label'), style.outlineStyle, style.outlineWidth]"))
    names = [name for name, *_ in seen]
    assert names[0] == "#main", f"the first stop skips to the figures: {names}"
    for wanted in ("pause", "#work-processes", "#connections", "#endpoints", "Places of endpoints", "Routes", "#cache", "#limits", "Work processes of flights", "find", "prefix"):
        assert wanted in names, f"{wanted} cannot be reached: {names}"
    # The last stop may be the browser itself.
    unseen = [name for name, style, width in seen if name and (style == "none" or width == "0px")]
    assert not unseen, f"nobody sees where the focus is: {unseen}"
    browser.run("document.getElementById('pause').focus()")
    # An answer that is under way must not end the pause when it comes. Behind one the next begins 300 ms later.
    browser.network(latency_ms=ANSWER_MS)
    for _ in range(3):
        time.sleep(0.5)
        browser.press(ENTER)
        browser.until("a pause is said", lambda: contact(browser).startswith("paused at "))
        time.sleep(2 * ANSWER_MS / 1000)
        assert contact(browser).startswith("paused at "), contact(browser)
        browser.press(ENTER)
        browser.until("it goes on", lambda: contact(browser) == "serving")
    browser.network()
    browser.until("it goes on", lambda: contact(browser) == "serving")
    browser.run("document.querySelector('[role=slider]').focus()")
    browser.press(LEFT, LEFT)
    slider = "return document.querySelector('[role=slider]').getAttribute(arguments[0])"
    assert browser.run(slider, "aria-valuenow") == "-2"
    assert browser.run(slider, "aria-valuetext").endswith("5xx"), browser.run(slider, "aria-valuetext")
    browser.press(ESCAPE)


def throws_away(browser, service):
    for number in range(3):
        urllib.request.urlopen(f"{service}/fibonacci?n=10&bytes={500 + number}").read()
    browser.ask("POST", "/url", {"url": browser.run("return location.origin") + "/?find=n%3D10"})
    rows = "return document.querySelectorAll('#cache tbody tr').length"
    browser.until("answers are listed", lambda: browser.run(rows) == 3)
    browser.run("document.querySelector('#cache tbody button').focus()")
    browser.press(ENTER)
    browser.until("the answer is gone", lambda: browser.run("return location.hash") == "#cache" and
                  browser.run("return document.querySelector('#find').value") == "" and browser.number("/cache/invalidated") > 0)
    browser.run("document.querySelector('[name=all]').focus()")
    browser.press(ENTER)
    browser.until("all are gone", lambda: browser.run("return document.readyState") == "complete" and browser.number("/cache/entries") == 0)
    browser.until("the page is alive", lambda: contact(browser) == "serving")


CONTRAST = """
const luminance = (colour) => {
  const channels = colour.match(/[\\d.]+/g).slice(0, 3).map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2];
};
const behind = (element) => {
  const colour = getComputedStyle(element).backgroundColor;
  return /, 0\\)$/.test(colour) && element.parentElement ? behind(element.parentElement) : colour;
};
const worst = [...document.querySelectorAll("h1, h2, h3, h4, dt, dd, td, th, p, a, button, label, figcaption, legend, small")]
  .filter((element) => element.checkVisibility() && element.textContent.trim() && !element.closest(".skip"))
  .map((element) => {
    const [one, other] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    return [(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), element.outerHTML.slice(0, 120)];
  })
  .sort((one, other) => one[0] - other[0])[0];
return [getComputedStyle(document.body).backgroundColor, ...worst];
"""


def looks_right(browser, folder):
    papers = set()
    for width in (1300, 768, 360):
        browser.size(width, 1000)
        for theme in ("light", "dark"):
            browser.theme(theme)
            wide = browser.run("return document.scrollingElement.scrollWidth")
            assert wide <= width, f"{wide} pixels at {width}"
            beyond = browser.run(
                "return [...document.querySelectorAll('main *')].filter((element) => element.checkVisibility()"
                " && !element.closest('svg, caption, thead, .scroll') && element.getBoundingClientRect().right > innerWidth + 1)"
                ".map((element) => element.outerHTML.slice(0, 80))")
            assert not beyond, f"at {width}: {beyond}"
            # The theme's own transition, if any, is over.
            time.sleep(0.4)
            paper, contrast, element = browser.run(CONTRAST)
            assert contrast >= 4.5, f"contrast {contrast:.2f} in {theme}: {element}"
            papers.add((theme, paper))
            if width != 1300:
                browser.picture(folder, f"{width}-{theme}")
    assert len({paper for _, paper in papers}) == 2, papers
    browser.devtools("Emulation.clearDeviceMetricsOverride")
    browser.theme("light")


def asks_nobody_else(browser, admin):
    messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    asked = {message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"}
    assert any(url.startswith(admin + "/status.json") for url in asked), asked
    foreign = [url for url in asked if not url.startswith((admin + "/", "data:"))]
    assert not foreign, foreign
    said = browser.log("browser")
    assert not said, said


def says_when_nobody_answers(browser):
    browser.network(offline=True)
    browser.until("silence is said", lambda: contact(browser).startswith("no answer since "))
    browser.network(offline=False)
    browser.until("it goes on", lambda: contact(browser) == "serving")


def main():
    driver, admin, service, *folder = [argument.rstrip("/") for argument in sys.argv[1:]]
    folder = folder[0] if folder else None
    browser = Browser(driver)
    try:
        browser.ask("POST", "/url", {"url": admin + "/"})
        figures_move(browser, service, folder)
        works_without_a_mouse(browser)
        throws_away(browser, service)
        looks_right(browser, folder)
        asks_nobody_else(browser, admin)
        says_when_nobody_answers(browser)
    finally:
        browser.ask("DELETE", "")
    print("the monitor works in a browser")


if __name__ == "__main__":
    main()
