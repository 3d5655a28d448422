#!/usr/bin/env python3
"""Runs the truth tests with their narrow bounds and writes what they found as a dated report.

Each truth is a row: what is so, what the lab may report of it, what it reported in how many runs. Give it a quiet machine for a
quarter of an hour. Exit code 1 if a row does not hold, 2 if a test ended before its rows were told. wrk is taken if it is there.

    python3 bench/truth/report.py [--runs 100] [--only WORD] [--out docs/reports/DATE-truth.md]
"""
import argparse
import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTRODUCTION = """# Truths: what the lab reports, against a server that knows

{date}, version {version}. {machine}.{load}

    bench/truth/report.py --runs {runs}

`tollgate-truth` is told how to behave and writes down what it did, each arrival and departure. A row is one truth: the bound on
what the lab may report, and what it reported. Tolls were compared {runs} times each. "The way" is
what a bare blocking socket on the generator's core sees beyond the server's log: what the machine takes by itself to carry a
request there and back. "Late" is by how much the server itself missed its own deadlines.

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="comparisons of each kind (100)")
    parser.add_argument("--only", default="", help="tests whose names contain this word")
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    parser.add_argument("--out", default=str(ROOT / "docs" / "reports" / f"{today}-truth.md"))
    arguments = parser.parse_args()

    run = ["cargo", "test", "--release", "--locked", "-p", "tollgate-lab", "--test", "truth"]
    subprocess.run([*run, "--no-run"], cwd=ROOT, check=True)
    load_before = os.getloadavg()[0]
    tests = [*run, "--", "--ignored", "--nocapture", "--test-threads", "1", f"truths::{arguments.only}"]
    environment = {**os.environ, "TOLLGATE_TRUTH_RUNS": str(arguments.runs)}
    began = datetime.datetime.now()
    testing = subprocess.Popen(tests, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    rows, skipped = [], []
    for line in testing.stdout:
        # What a test prints first stands behind its name.
        found = re.search(r"(truth|skipped): (.+)", line)
        if found and found.group(1) == "truth":
            rows.append(found.group(2).split(" | "))
        elif found:
            skipped.append(found.group(2))
        print(line, end="", flush=True)
    ended = testing.wait()
    broken = [row for row in rows if row[-1] != "holds"]

    version = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
    load = f" Load {load_before:.1f} when it began." if load_before > 0.5 else ""
    text = INTRODUCTION.format(date=today, version=version, machine=machine(), runs=arguments.runs, load=load)
    text += "".join(f"| {' | '.join(row)} |\n" for row in rows)
    took = (datetime.datetime.now() - began).total_seconds()
    text += f"\n{len(rows) - len(broken)} of {len(rows)} rows hold; {took / 60:.0f} minutes.\n"
    text += "".join(f"\nSkipped: {line}.\n" for line in skipped)
    pathlib.Path(arguments.out).write_text(text)
    print(f"{len(rows) - len(broken)} of {len(rows)} hold; written to {arguments.out}")
    if ended != 0 and not broken:
        sys.exit(2)
    sys.exit(1 if broken or ended else 0)


if __name__ == "__main__":
    main()
