#!/usr/bin/env python3
"""What passing a request on costs the gateway, against nginx and HAProxy, back to back in one run.

Subject on core 0; wrk and the backend, which is `tollgate serve --service echo` or `--service stock-quote`, on core 1;
loopback only. Each subject has one worker, loop or thread. Every round measures each once, every other round in the
opposite order; a ratio is the geometric mean over the rounds with its 95 % interval (Student's t on the logarithms). A
subject's CPU is that of /proc/PID/task/*/schedstat. Its memory is what is resident while the largest level runs.

  through      POST 1 KiB, answered 1 KiB, at 20 to 2560 connections, against nginx and HAProxy
  mediated     at 80 connections: passed through, routed by an XPath on the symbol, transformed by XSLT both ways

Needs nginx, haproxy, wrk and taskset (Debian: nginx-light haproxy wrk util-linux) and a release build.

    cargo build --release && python3 bench/proxy/compare.py [through] [mediated] [--rounds 9] [--seconds 2]
"""
import argparse
import math
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from compare import ROOT, cpu_ns, family_cpu_ns, free_port, wait_for  # noqa: E402

# What the experiment `mediation` sends and configures.
MEDIATION = ROOT / "crates/tollgate-lab/experiments/mediation"
LEVELS = [20, 80, 320, 1280, 2560]
# Student's t, 97.5 %, by degrees of freedom from 1.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09]


class Subject:
    """A server that was started, with the processes of it that count."""

    def __init__(self, process, url, cpu=cpu_ns):
        self.process, self.url, self.cpu = process, url, cpu

    def cpu_ns(self):
        return self.cpu(self.process.pid)

    def resident_mb(self):
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        return sum(resident_kb(pid) for pid in [self.process.pid, *children]) / 1e3

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


def resident_kb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1))


def pinned(core, command):
    # Two descriptors for each connection that is passed on.
    return ["sh", "-c", 'ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh", "taskset", "-c", str(core), *map(str, command)]


def start_tollgate(binary, core, *arguments):
    command = [binary, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", *arguments]
    process = subprocess.Popen(pinned(core, command), stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("listening "):
            return Subject(process, line.split()[1].rstrip("/"))
    sys.exit("tollgate serve did not start")


def start_gateway(binary, folder, echo, quotes):
    text = (MEDIATION / "mediator.toml").read_text().replace("{echo}", echo.url).replace("{quote}", quotes.url)
    # The same message without a mediator, to hold the others against.
    text += '\n[[route]]\npath = "/quote"\nendpoint = "quote"\nto = "/"\nsoap = true\n'
    (folder / "gateway.toml").write_text(text)
    for stylesheet in MEDIATION.glob("*.xsl"):
        shutil.copy(stylesheet, folder)
    return start_tollgate(binary, 0, folder / "gateway.toml")


def start_nginx(folder, echo):
    port = free_port()
    text = filled("nginx.conf", folder=folder, port=port, echo=echo.url.removeprefix("http://"))
    (folder / "nginx.conf").write_text(text)
    process = subprocess.Popen(pinned(0, ["nginx", "-p", folder, "-c", folder / "nginx.conf"]))
    wait_for(port)
    return Subject(process, f"http://127.0.0.1:{port}", family_cpu_ns)


def start_haproxy(folder, echo):
    port = free_port()
    text = filled("haproxy.cfg", port=port, echo=echo.url.removeprefix("http://"))
    (folder / "haproxy.cfg").write_text(text)
    process = subprocess.Popen(pinned(0, ["haproxy", "-q", "-db", "-f", folder / "haproxy.cfg"]))
    wait_for(port)
    return Subject(process, f"http://127.0.0.1:{port}")


def filled(name, **values):
    text = (HERE / name).read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


class Load:
    """wrk with one request, which it sends again and again."""

    def __init__(self, folder, name, body, content_type, expected):
        self.script = folder / f"{name}.lua"
        self.script.write_text(
            f'wrk.method = "POST"\nwrk.body = {lua(body)}\nwrk.headers["Content-Type"] = "{content_type}"\n'
            'wrk.headers["SOAPAction"] = "\\"urn:getQuote\\""\n'
        )
        self.body, self.content_type, self.expected = body, content_type, expected

    def run(self, url, connections, seconds):
        """Requests answered."""
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "-s", self.script, url]
        out = subprocess.run(pinned(1, command), capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in out or "Socket errors" in out:
            sys.exit(f"{url} with {connections} connections:\n{out}")
        requests = int(re.search(r"(\d+) requests in", out).group(1))
        # Where the machine has other things to do, the generator gets nowhere, and no figure is worth anything.
        return requests or sys.exit(f"{url} with {connections} connections: no request was answered in {seconds} s")

    def check(self, url):
        """One request, whose answer must be what is measured."""
        command = ["curl", "-s", "--data-binary", "@-", "-H", f"Content-Type: {self.content_type}", url]
        out = subprocess.run(command, input=self.body, capture_output=True, text=True, check=True).stdout
        if not self.expected(out):
            sys.exit(f"{url} answered {out[:400]!r}")


def lua(text):
    return "[==[" + text + "]==]"


def spent(subject, load, url, connections, seconds):
    """The subject's CPU per request in microseconds."""
    before = subject.cpu_ns()
    requests = load.run(url, connections, seconds)
    return (subject.cpu_ns() - before) / requests / 1e3


def rounds_of(cells, rounds):
    """Each cell once a round, in alternating order; the values by name."""
    values = {name: [] for name, _ in cells}
    for index in range(rounds):
        for name, measure in cells if index % 2 == 0 else reversed(cells):
            values[name].append(measure())
    return values


def interval(logs):
    middle = statistics.mean(logs)
    if len(logs) < 2:
        return middle, math.nan
    return middle, T[min(len(logs) - 2, len(T) - 1)] * statistics.stdev(logs) / math.sqrt(len(logs))


def through(subjects, load, rounds, seconds):
    print("\n## Passed through: POST 1 KiB, answered 1 KiB\n")
    print("| connections | subject | CPU us, median | range | by nginx | 95 % | resident MB |\n|---|---|---|---|---|---|---|")
    for connections in LEVELS:
        resident = {}

        def measured(name, subject):
            value = spent(subject, load, subject.url + "/pass-through-1k", connections, seconds)
            resident[name] = max(resident.get(name, 0), subject.resident_mb())
            return value

        cells = [(name, lambda name=name, subject=subject: measured(name, subject)) for name, subject in subjects.items()]
        for _, warm_up in cells:
            warm_up()
        values = rounds_of(cells, rounds)
        for name, each in values.items():
            middle, half = interval([math.log(value / base) for value, base in zip(each, values["nginx"])])
            ratio = "1 | " if name == "nginx" else f"{math.exp(middle):.2f} | {math.exp(middle - half):.2f} - {math.exp(middle + half):.2f}"
            row = f"| {connections} | {name} | {statistics.median(each):.2f} | {min(each):.2f} - {max(each):.2f} | {ratio}"
            print(f"{row} | {resident[name]:.1f} |", flush=True)


def mediated(gateway, loads, rounds, seconds):
    print("\n## Mediated, 80 connections, the gateway alone\n")
    print("| route | CPU us, median | range | more than pass-through, us | 95 % |\n|---|---|---|---|---|")
    cells = [(path, lambda path=path, load=load: spent(gateway, load, gateway.url + path, 80, seconds)) for path, load in loads]
    for _, warm_up in cells:
        warm_up()
    values = rounds_of(cells, rounds)
    base = values[loads[0][0]]
    for path, each in values.items():
        middle, half = interval([value - other for value, other in zip(each, base)])
        more = "| " if path == loads[0][0] else f"{middle:.1f} | {middle - half:.1f} - {middle + half:.1f}"
        print(f"| {path} | {statistics.median(each):.2f} | {min(each):.2f} - {max(each):.2f} | {more} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["through", "mediated"]
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--seconds", type=int, default=2)
    arguments.add_argument("--binary", default=str(ROOT / "target/release/tollgate"))
    arguments = arguments.parse_args()
    if unknown := set(arguments.parts) - set(parts):
        arguments.error(f"expected {', '.join(parts)}, found {', '.join(unknown)}")
    chosen, rounds, seconds = arguments.parts or parts, arguments.rounds, arguments.seconds
    started = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o711)
        try:
            started.append(echo := start_tollgate(arguments.binary, 1, "--service", "echo"))
            started.append(quotes := start_tollgate(arguments.binary, 1, "--service", "stock-quote"))
            started.append(gateway := start_gateway(arguments.binary, folder, echo, quotes))
            if "through" in chosen:
                started.append(nginx := start_nginx(folder, echo))
                started.append(haproxy := start_haproxy(folder, echo))
                load = Load(folder, "through", "x" * 1024, "text/plain", lambda out: len(out) == 1024)
                subjects = {"nginx": nginx, "HAProxy": haproxy, "gateway": gateway}
                for subject in subjects.values():
                    load.check(subject.url + "/pass-through-1k")
                through(subjects, load, rounds, seconds)
            if "mediated" in chosen:
                asked = (MEDIATION / "get-quote.xml").read_text().strip()
                price = (MEDIATION / "check-price.xml").read_text().strip()
                soap = "text/xml; charset=utf-8"
                loads = [
                    ("/quote", Load(folder, "quote", asked, soap, lambda out: "getQuoteResponse" in out)),
                    ("/routing", Load(folder, "routing", asked, soap, lambda out: "getQuoteResponse" in out)),
                    ("/transformation", Load(folder, "price", price, soap, lambda out: "heckPriceResponse" in out)),
                ]
                for path, load in loads:
                    load.check(gateway.url + path)
                mediated(gateway, loads, rounds, seconds)
        finally:
            for subject in started:
                subject.stop()


if __name__ == "__main__":
    main()
