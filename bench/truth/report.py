#!/usr/bin/env python3
"""Runs the truth tests with their narrow bounds and writes what they found as a dated report.

Each truth is a row: what is so, what the lab may report of it, what it reported in how many runs. Give it a quiet machine for
three hours, half of them for users who think, or measure part by part (`--only`, then `--keep`). With `--keep` a row that is
measured anew says how often it failed before in this report, each part is told with when and how it was measured, and what
stands below the rows stays. Everything is drawn anew each time (`--seed` draws as another report did). Exit code 1 if a row does not
hold, 2 if a test ended before its rows were told. wrk is taken if it is there.

    python3 bench/truth/report.py [--runs 100] [--only WORD]... [--keep] [--out docs/reports/DATE-truth.md]
"""
import argparse
import contextlib
import datetime
import glob
import os
import pathlib
import platform
import re
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# While this is open with 0 written to it, cores are asked not to rest (Linux, PM QoS).
CORE_LATENCY = pathlib.Path("/dev/cpu_dma_latency")
IDLE_STATES = "/sys/devices/system/cpu/cpu*/cpuidle/state*"
INTRODUCTION = """# Truths: what the lab reports, against a server that knows

{date}, version {version}. {machine}.

`tollgate-truth` is told how to behave and writes down what it did, each arrival and departure. A row is one truth: the bound on
what the lab may report, and what it reported. "Late" is by how much the server itself missed its own deadlines. What the lab is
not blamed for is taken out, each by a reading of its own:

- **The way**, what the machine takes by itself to carry a request there and back: what bare sockets on the generator's core,
  without any code of the lab, see beyond the server's log. Of constant service times as many of them as the load has
  connections, in slices that take turns with it (A B B A). Of queues 400 at the same rate where nobody waits, between the parts
  of the load; how late the server is belongs to it there, as the truth is arithmetic's. Of the dearer server one after each run.
- **A host that takes the cores away.** The lab marks what it measures meanwhile (`steal`). Times, queues and tolls are measured
  again while it takes more than the same 1 %, for four minutes of a test at most; what it takes after that counts. A row says how
  often. Loads that must have no mark are counted apart where they have this one.
- **Single pauses.** Where a row has several blocks, each figure is the one in the middle of them.
- **Cores at rest**, which a virtual machine gives back to its host, so that all who wait for them are late by when it gets them
  again. While this was measured they were asked not to rest (`{core_latency}` at 0), as told below; the bounds are held on such
  a machine.

Of a server that is dearer by 50 or 200 us the truth is what all its trials took by the server's own account, together: what was burned,
and what the machine took with it. So many as cover other truths stand in parentheses: the account of each comparison's own trials,
whose noise is in both, and what was burned alone.

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
    """Cores are asked not to rest meanwhile, where the machine lets us; gives what the report says of it, complete at the end."""
    told = []
    rests, began = rests_so_far(), time.monotonic()
    try:
        asked = open(CORE_LATENCY, "wb", buffering=0)
    except OSError as error:
        told.append(f"cores rested as they liked ({error})")
        yield told
        return
    with asked:
        asked.write(struct.pack("i", 0))
        yield told
    if rests is None:
        told.append("cores were asked not to rest; whether they did, this kernel does not tell")
        return
    by_second = (rests_so_far() - rests) / (time.monotonic() - began)
    told.append(f"cores were asked not to rest, and did {by_second:.0f} times a second in all")


def rests_so_far():
    """How often a core went to rest otherwise than by looking on; None where the kernel does not tell."""
    states = [pathlib.Path(state) for state in glob.glob(IDLE_STATES)]
    if not states:
        return None
    return sum(int((state / "usage").read_text()) for state in states if (state / "name").read_text().strip() != "POLL")


def kept(report):
    """The rows of a report that is there, how its parts were measured, and what was written below them."""
    text = report.read_text()
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    rows = [line.strip("| ").split(" | ") for line in lines[1:]]
    below = re.split(r"^\d+ of \d+ rows hold.*$", text, maxsplit=1, flags=re.MULTILINE)
    below = below[1].strip() if len(below) == 2 else ""
    parts = re.findall(r"^- `bench/truth/report.py.*$", below, flags=re.MULTILINE)
    return rows, parts, "\n".join(line for line in below.splitlines() if line not in parts).strip()


def with_earlier_failures(rows, earlier):
    """Says of each row how often it failed before, if it did: a second measurement is not the first one."""
    failed = {row[0]: failures(row[-1]) for row in earlier}
    for row in rows:
        if failed.get(row[0]):
            row[-1] += f"; failed before: {failed[row[0]]}"
    return rows


def failures(verdict):
    before = re.search(r"failed before: (\d+)", verdict)
    return (int(before.group(1)) if before else 0) + verdict.startswith("FAILS")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="comparisons of each kind (100)")
    parser.add_argument("--only", action="append", help="tests whose names contain this word; may be said again")
    parser.add_argument("--keep", action="store_true", help="keep the rows of the report that is there, but for those told anew")
    parser.add_argument("--seed", type=int, help="the first seed of all that is drawn (one by the clock)")
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    parser.add_argument("--out", default=str(ROOT / "docs" / "reports" / f"{today}-truth.md"))
    arguments = parser.parse_args()

    run = ["cargo", "test", "--release", "--locked", "-p", "tollgate-truth", "--test", "truth"]
    subprocess.run([*run, "--no-run"], cwd=ROOT, check=True)
    load_before = os.getloadavg()[0]
    # Several words are alternatives to the test runner.
    names = [f"truths::{word}" for word in arguments.only or [""]]
    tests = [*run, "--", "--ignored", "--nocapture", "--test-threads", "1", *names]
    # Far enough apart that no two reports share a draw, and small enough for a class's number.
    seed = arguments.seed or int(time.time() / 60) % 100_000 * 10_000 + 1
    environment = {**os.environ, "TOLLGATE_TRUTH_RUNS": str(arguments.runs), "TOLLGATE_TRUTH_SEED": str(seed)}
    began = datetime.datetime.now()
    rows, skipped = [], []
    with cores_awake() as told_of_cores, subprocess.Popen(tests, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as testing:
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
    earlier, parts, below = kept(out) if arguments.keep and out.exists() else ([], [], "")
    rows = [row for row in earlier if row[0] not in told_anew] + with_earlier_failures(rows, earlier)
    broken = [row for row in rows if row[-1].startswith("FAILS")]

    version = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
    text = INTRODUCTION.format(date=today, version=version, machine=machine(), core_latency=CORE_LATENCY)
    text += "".join(f"| {' | '.join(row)} |\n" for row in rows)
    again = sum("failed before" in row[-1] for row in rows if row not in broken)
    at_last = f", {again} of them after they failed" if again else ""
    text += f"\n{len(rows) - len(broken)} of {len(rows)} rows hold{at_last}. Measured by:\n\n"
    took = (datetime.datetime.now() - began).total_seconds()
    words = "".join(f" --only {word}" for word in arguments.only or [])
    parts.append(
        f"- `bench/truth/report.py --runs {arguments.runs}{words} --seed {seed}`: {len(told_anew)} rows in {took / 60:.0f} minutes until "
        f"{datetime.datetime.now(datetime.timezone.utc):%H:%M} UTC; load {load_before:.1f} when it began; {told_of_cores[0]}"
    )
    text += "".join(f"{part}\n" for part in parts)
    text += "".join(f"\nSkipped: {line}.\n" for line in skipped if f"Skipped: {line}." not in below)
    text += f"\n{below}\n" if below else ""
    out.write_text(text)
    print(f"{len(rows) - len(broken)} of {len(rows)} hold; written to {arguments.out}")
    if ended != 0 and not broken:
        sys.exit(2)
    sys.exit(1 if broken or ended else 0)


if __name__ == "__main__":
    main()
