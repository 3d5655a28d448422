"""The page of `--live` in a real browser: figures move, nothing foreign is asked for, nothing is written to the console, it
fits narrow screens, is readable in light and dark, and says when the run is over.

usage: live.py WEBDRIVER TOLLGATE URL [FOLDER]

WEBDRIVER is where chromedriver listens, TOLLGATE the program, URL what it loads, FOLDER takes pictures.
"""

import json
import re
import signal
import subprocess
import sys

from monitor import CONTRAST, Browser


def contact(browser):
    return browser.text("#contact")


def figures_move(browser):
    browser.until("the page is alive", lambda: contact(browser) == "running")
    browser.until("throughput is shown", lambda: re.fullmatch(r"[\d,.]+/s", browser.text("#rate") or ""))
    browser.until("p99 is shown", lambda: re.fullmatch(r"[\d,.]+ ms", browser.text("#p99") or ""))
    far = browser.text("#far")
    assert re.fullmatch(r"\d+ s of 60 min \d+ s, ETA \d+ min \d+ s", far), far
    browser.until("time goes on", lambda: browser.text("#far") != far)
    charts = "return [...document.querySelectorAll('svg path.k0')].map((line) => line.getAttribute('d').split('L').length)"
    browser.until("the charts have lines", lambda: min(browser.run(charts)) > 5)


def looks_right(browser, folder):
    papers = set()
    for width in (1200, 360):
        browser.size(width, 900)
        for theme in ("light", "dark"):
            browser.theme(theme)
            wide = browser.run("return document.scrollingElement.scrollWidth")
            assert wide <= width, f"{wide} pixels at {width}"
            paper, contrast, element = browser.run(CONTRAST)
            assert contrast >= 4.5, f"contrast {contrast:.2f} in {theme}: {element}"
            papers.add((theme, paper))
            browser.picture(folder, f"live-{width}-{theme}")
    assert len({paper for _, paper in papers}) == 2, papers


def asks_nobody_else(browser, page):
    messages = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    asked = {message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"}
    assert page + "state.json" in asked, asked
    foreign = [url for url in asked if not url.startswith((page, "data:"))]
    assert not foreign, foreign
    said = browser.log("browser")
    assert not said, said


def main():
    driver, tollgate, url, *folder = sys.argv[1:]
    folder = folder[0] if folder else None
    command = [tollgate, "load", "-t", "3600", "-c", "2", "-k", "--live", "0", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as load:
        try:
            page = load.stderr.readline().removeprefix("live view: ").strip()
            browser = Browser(driver)
            try:
                browser.ask("POST", "/url", {"url": page})
                figures_move(browser)
                looks_right(browser, folder)
                asks_nobody_else(browser, page)
                load.send_signal(signal.SIGINT)
                out, _ = load.communicate(timeout=60)
                assert load.returncode == 130 and out.startswith("Interrupted"), out
                browser.until("the end is said", lambda: contact(browser) == "ended, or out of reach")
            finally:
                browser.ask("DELETE", "")
        finally:
            load.kill()
    print("the live view works in a browser")


main()
