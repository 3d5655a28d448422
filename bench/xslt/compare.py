#!/usr/bin/env python3
"""libxml2 and libxslt beside tollgate-xml, the same messages, CPU time: bench/xslt/compare.py [ROUNDS] [SECONDS].

Needs libxml2-dev and libxslt1-dev, cc and cargo. Both programs take turns for each round, since absolute figures wander
from minute to minute; what counts is the median of the ratios of the rounds. Writes nothing but a temporary folder.
"""
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))


def figures(command):
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    return {row[0]: float(row[1]) for row in rows if len(row) == 2}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    seconds = sys.argv[2] if len(sys.argv) > 2 else "0.3"
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "tollgate-xml", "--example", "speed"], cwd=ROOT, check=True)
    ours = os.path.join(TARGET, "release", "examples", "speed")
    with tempfile.TemporaryDirectory() as folder:
        theirs = os.path.join(folder, "libxslt")
        flags = subprocess.run(["xml2-config", "--cflags", "--libs"], check=True, capture_output=True, text=True).stdout
        source = os.path.join(HERE, "libxslt.c")
        subprocess.run(["cc", "-O2", "-o", theirs, source, *flags.split(), "-lxslt"], check=True)
        subprocess.run([ours, "write", folder], check=True)
        pairs = [(figures([ours, seconds]), figures([theirs, folder, seconds])) for _ in range(rounds)]
    print(f"{'message':<10} {'ours us':>10} {'theirs us':>10} {'theirs / ours':>14} {'least':>6} {'most':>6}   n = {rounds}")
    for name in pairs[0][0]:
        mine = statistics.median(own[name] for own, _ in pairs)
        # What libxml2 has no counterpart for is held against the tree's way of doing the same.
        other = {"stream": "xpath"}.get(name, name)
        their = statistics.median(peer[other] for _, peer in pairs)
        ratios = sorted(peer[other] / own[name] for own, peer in pairs)
        print(f"{name:<10} {mine:>10.2f} {their:>10.2f} {statistics.median(ratios):>14.2f} {ratios[0]:>6.2f} {ratios[-1]:>6.2f}")


if __name__ == "__main__":
    main()
