"""The load generators that compare.py holds side by side: how each is called, and what its own output says.

Each reader gives back how many requests were answered, how many of them a second by the generator's own clock, and the
percentiles of the response time that it prints, in microseconds; none where it prints fewer digits than that takes.
"""
import csv
import json
import pathlib
import re
import shutil

# Quantiles that most of them print; the last one is the longest answer.
QUANTILES = (0.5, 0.75, 0.9, 0.99, 1.0)
UNITS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6, "m": 6e7}


def found(pattern, out):
    match = re.search(pattern, out)
    return float(match.group(1)) if match else 0.0


def microseconds(text):
    """Of "76.30us", "1.2ms", or of Go's "1m2.5s"."""
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+)(ns|us|µs|ms|s|m)", text))


def tollgate(out, _):
    figures = json.loads(out)
    served = {percent: time for percent, time in figures["served_within_ms"]}
    times = [served.get(quantile * 100) for quantile in QUANTILES[:-1]] + [figures["response_time_ms"]["max"]]
    return figures["requests"], figures["requests_per_second"], [time * 1e3 for time in times] if all(times) else None


def wrk(out, _):
    times = [re.search(rf"^ +{quantile:.0%} +(\S+)", out, re.M) for quantile in QUANTILES[:-1]]
    longest = re.search(r"Latency +\S+ +\S+ +(\S+)", out)
    times = [microseconds(time.group(1)) for time in [*times, longest]] if all(times) and longest else None
    return found(r"(\d+) requests in", out), found(r"Requests/sec: +([\d.]+)", out), times


def ab(out, folder):
    # Its text has whole milliseconds; the file of -e has more, of each percentage the time of the request there.
    rows = list(csv.reader(open(f"{folder}/ab.csv")))[1:]
    served = {int(percent): float(time) * 1e3 for percent, time in rows}
    times = [served[int(quantile * 100)] for quantile in QUANTILES] if len(served) > 100 else None
    return found(r"Complete requests: +(\d+)", out), found(r"Requests per second: +([\d.]+)", out), times


def hey(out, _):
    # Tenths of a millisecond are no response time at one connection.
    return found(r"\[200\]\s+(\d+) responses", out), found(r"Requests/sec:\s+([\d.]+)", out), None


def oha(out, _):
    figures = json.loads(out)
    times = [figures["latencyPercentiles"].get(f"p{quantile * 100:.0f}") for quantile in QUANTILES[:-1]]
    times = [time * 1e6 for time in [*times, figures["summary"]["slowest"]]] if all(times) else None
    return figures["statusCodeDistribution"].get("200", 0), figures["summary"]["requestsPerSec"], times


def k6(out, _):
    # What it calls the duration of a request begins when the connection is there and the request is being sent.
    line = re.search(r"http_req_duration[.]*: (.*)", out)
    times = dict(each.split("=") for each in line.group(1).split()) if line else {}
    times = [microseconds(times[name]) for name in ("med", "p(75)", "p(90)", "p(99)", "max")] if times else None
    return found(r"http_reqs[.]*: (\d+)", out), found(r"http_reqs[.]*: \d+ +([\d.]+)/s", out), times


def k6_line(url, connections, seconds, folder):
    script = pathlib.Path(folder) / "script.js"
    script.write_text(f"import http from 'k6/http';\nexport default function () {{ http.get('{url}'); }}\n")
    options = ["--insecure-skip-tls-verify", "--no-usage-report", "--quiet", "--no-color", "--discard-response-bodies"]
    trend = ["--summary-trend-stats", "med,p(75),p(90),p(99),max"]
    return ["k6", "run", *options, *trend, "-u", str(connections), "-d", f"{seconds}s", str(script)]


def installed(binary):
    """Name, command line and reader of each generator that is there."""
    known = {
        "tollgate": (lambda url, c, s, _: [binary, "load", "--json", "--insecure", "-k", "-c", str(c), "-t", str(s), url], tollgate),
        "wrk": (lambda url, c, s, _: ["wrk", "-t1", f"-c{c}", f"-d{s}s", "--latency", url], wrk),
        "ab": (
            lambda url, c, s, folder: ["ab", "-q", "-k", "-r", "-l", "-e", f"{folder}/ab.csv", "-c", str(c), "-t", str(s), "-n", "100000000", url],
            ab,
        ),
        "hey": (lambda url, c, s, _: ["hey", "-c", str(c), "-z", f"{s}s", "-cpus", "1", url], hey),
        "oha": (
            lambda url, c, s, _: ["oha", "--no-tui", "--insecure", "--output-format", "json", "-c", str(c), "-z", f"{s}s", url],
            oha,
        ),
        "k6": (k6_line, k6),
    }
    return {name: how for name, how in known.items() if name == "tollgate" or shutil.which(name)}


def mean_between(times):
    """The least and the largest mean that a distribution with these percentiles can have: in each part between two of
    them all requests took what the one below says, or the one above."""
    shares = [upper - lower for lower, upper in zip((0.0, *QUANTILES), QUANTILES)]
    least = sum(share * time for share, time in zip(shares, (0.0, *times)))
    return least, sum(share * time for share, time in zip(shares, times))
