#!/usr/bin/env python3
"""Runs the truth tests with their narrow bounds and writes what they found as a dated report.

Each truth is a row: what is so, what the lab may report of it, what it reported in how many runs. Give it a quiet machine for
half an hour, or a few minutes for each part (`--only`, then `--keep`). Exit code 1 if a row does not hold, 2 if a test ended
before its rows were told. wrk is taken if it is there.

    python3 bench/truth/report.py [--runs 100] [--only WORD]... [--keep] [--out docs/reports/DATE-truth.md]
"""
import argparse
import contextlib
import datetime
import os
import pathlib
import platform
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# While this is open with 0 written to it, no core of the machine rests (Linux, PM QoS).
CORE_LATENCY = pathlib.Path("/dev/cpu_dma_latency")
INTRODUCTION = """# Truths: what the lab reports, against a server that knows

{date}, version {version}. {machine}.{load}

    bench/truth/report.py --runs {runs}

`tollgate-truth` is told how to behave and writes down what it did, each arrival and departure. A row is one truth: the bound on
what the lab may report, and what it reported. "The way" is what bare sockets on the generator's core see beyond the server's
log, as many of them as the load has connections, in slices that take turns with it (A B B A): what the machine takes by itself to
carry a request there and back. Where a row has several blocks, each figure is the one in the middle of them, since a shared host
takes a core away for a millisecond now and then, from either side. What was measured while it took more than 1 % of the cores' time
is marked by the lab (`steal`), so it was measured again; a row says how often. No core came to rest (`/dev/cpu_dma_latency` at 0):
a virtual machine gives a core that rests back to its host, and all who wait for it are late by when they get it again.
"Late" is by how much the server itself missed its own deadlines.

| truth | bound | found | runs | verdict |
|---|---|---|---|---|
"""


def command_output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def machine():
    cpu = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1))
    system = re.search(r'PRETTY_NAME="([^"]+)"', pathlib.Path("/etc/os-release").read_text())
    is_virtual = "hypervisor" in pathlib.Path("/proc/cpuinfo").read_text()
    parts = [
        f"A {'virtual ' if is_virtual else ''}machine with {os.cpu_count()} cores ({cpu.group(1).strip() if cpu else 'unknown'})",
        f"{memory / 2**20:.0f} GiB",
        system.group(1) if system else platform.system(),
        f"Linux {platform.release()}",
        command_output("rustc", "--version").rsplit(" (", 1)[0],
    ]
    return ", ".join(parts)


@contextlib.contextmanager
def cores_awake():
    """No core rests meanwhile, where the machine lets us say so."""
    try:
        asked = open(CORE_LATENCY, "wb", buffering=0)
    except OSError as error:
        print(f"cores may rest, which makes a virtual machine late: {error}")
        yield
        return
    with asked:
        asked.write(struct.pack("i", 0))
        yield


def kept_rows(report):
    """The rows of a report that is there."""
    lines = [line for line in report.read_text().splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ") for line in lines[1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="comparisons of each kind (100)")
    parser.add_argument("--only", action="append", help="tests whose names contain this word; may be said again")
    parser.add_argument("--keep", action="store_true", help="keep the rows of the report that is there, but for those told anew")
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    parser.add_argument("--out", default=str(ROOT / "docs" / "reports" / f"{today}-truth.md"))
    arguments = parser.parse_args()

    run = ["cargo", "test", "--release", "--locked", "-p", "tollgate-lab", "--test", "truth"]
    subprocess.run([*run, "--no-run"], cwd=ROOT, check=True)
    load_before = os.getloadavg()[0]
    # Several words are alternatives to the test runner.
    names = [f"truths::{word}" for word in arguments.only or [""]]
    tests = [*run, "--", "--ignored", "--nocapture", "--test-threads", "1", *names]
    environment = {**os.environ, "TOLLGATE_TRUTH_RUNS": str(arguments.runs)}
    began = datetime.datetime.now()
    rows, skipped = [], []
    with cores_awake(), subprocess.Popen(tests, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as testing:
        for line in testing.stdout:
            # What a test prints first stands behind its name.
            found = re.search(r"(truth|skipped): (.+)", line)
            if found and found.group(1) == "truth":
                rows.append(found.group(2).split(" | "))
            elif found:
                skipped.append(found.group(2))
            print(line, end="", flush=True)
    ended = testing.returncode
    out = pathlib.Path(arguments.out)
    told_anew = {row[0] for row in rows}
    kept = kept_rows(out) if arguments.keep and out.exists() else []
    rows = [row for row in kept if row[0] not in told_anew] + rows
    broken = [row for row in rows if row[-1] != "holds"]

    version = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
    load = f" Load {load_before:.1f} when it began." if load_before > 0.5 else ""
    text = INTRODUCTION.format(date=today, version=version, machine=machine(), runs=arguments.runs, load=load)
    text += "".join(f"| {' | '.join(row)} |\n" for row in rows)
    took = (datetime.datetime.now() - began).total_seconds()
    when = "measured in parts" if arguments.keep else f"{took / 60:.0f} minutes"
    text += f"\n{len(rows) - len(broken)} of {len(rows)} rows hold; {when}.\n"
    text += "".join(f"\nSkipped: {line}.\n" for line in skipped)
    out.write_text(text)
    print(f"{len(rows) - len(broken)} of {len(rows)} hold; written to {arguments.out}")
    if ended != 0 and not broken:
        sys.exit(2)
    sys.exit(1 if broken or ended else 0)


if __name__ == "__main__":
    main()
