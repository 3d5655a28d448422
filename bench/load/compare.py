#!/usr/bin/env python3
"""`tollgate load` against wrk, ab, hey, oha and k6 (those that are installed) on the same nginx, back to back in one run.

nginx with 1 KiB on core 0, generators in turns on core 1 with one thread, loopback only, connections that stay open. Every
round runs each generator once at each number of connections, every other round in the opposite order. CPU is that of the
generator's process by request, memory its largest resident size. A ratio is that to wrk in the same round: the geometric mean
over the rounds with the smallest and the largest. tollgate load records every latency meanwhile, as it always does.

Needs nginx, wrk and taskset (Debian: nginx-light wrk util-linux) and a release build.

    cargo build --release && python3 bench/load/compare.py [--rounds 7] [--seconds 2] [--connections 1,20,100,500]
"""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from compare import ROOT, free_port, wait_for  # noqa: E402

PINNED = ["taskset", "-c", "1"]


def by_pattern(pattern):
    def read(out):
        found = re.search(pattern, out)
        return int(found.group(1)) if found else 0

    return read


def k6_line(url, connections, seconds, folder):
    script = pathlib.Path(folder) / "script.js"
    script.write_text(f"import http from 'k6/http'; export default function () {{ http.get('{url}'); }}")
    return ["k6", "run", "--insecure-skip-tls-verify", "-u", str(connections), "-d", f"{seconds}s", str(script)]


def generators(binary):
    """Name, command line, and how many requests its output says were answered."""
    known = {
        "tollgate": (
            lambda url, c, s, _: [binary, "load", "--json", "--insecure", "-k", "-c", str(c), "-t", str(s), url],
            lambda out: json.loads(out)["requests"],
        ),
        "wrk": (
            lambda url, c, s, _: ["wrk", "-t1", f"-c{c}", f"-d{s}s", "--latency", url],
            by_pattern(r"(\d+) requests in"),
        ),
        "ab": (
            lambda url, c, s, _: ["ab", "-q", "-k", "-r", "-c", str(c), "-t", str(s), "-n", "100000000", url],
            by_pattern(r"Complete requests:\s+(\d+)"),
        ),
        "hey": (
            lambda url, c, s, _: ["hey", "-c", str(c), "-z", f"{s}s", "-cpus", "1", url],
            by_pattern(r"\[200\]\s+(\d+) responses"),
        ),
        "oha": (
            lambda url, c, s, _: ["oha", "--no-tui", "--insecure", "-c", str(c), "-z", f"{s}s", url],
            by_pattern(r"\[200\] (\d+) responses"),
        ),
        "k6": (k6_line, by_pattern(r"http_reqs\.*:\s+(\d+)")),
    }
    return {name: how for name, how in known.items() if name == "tollgate" or shutil.which(name)}


def resident_kib(pid):
    """Largest resident size so far; 0 once it has ended, and while it is still taskset's."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found.group(1)) if found and "Name:\ttaskset" not in status else 0


def measure(how, url, connections, seconds, folder):
    """Requests per second, CPU microseconds per request, and MiB resident at most."""
    line, read = how
    with tempfile.TemporaryFile("w+") as out:
        # Its own process is waited for, so that its CPU is no other's; taskset becomes it.
        before, resident = time.monotonic(), 0
        process = subprocess.Popen(PINNED + line(url, connections, seconds, folder), stdout=out, stderr=subprocess.DEVNULL)
        while True:
            ended, _, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            # The peak that wait4 tells of is this script's own, from before the generator was executed.
            resident = max(resident, resident_kib(process.pid))
            time.sleep(0.05)
        process.returncode = 0
        took = time.monotonic() - before
        out.seek(0)
        requests = read(out.read())
    if requests == 0:
        return None
    return requests / took, (used.ru_utime + used.ru_stime) * 1e6 / requests, resident / 1024


def ratio(values, baseline):
    pairs = [value / base for value, base in zip(values, baseline) if value and base]
    if not pairs:
        return "-"
    mean = math.exp(sum(map(math.log, pairs)) / len(pairs))
    return f"{mean:.2f} ({min(pairs):.2f} - {max(pairs):.2f})"


def start_nginx(binary, folder):
    subprocess.run([binary, "cert", "--out", f"{folder}/certificates"], check=True, stdout=subprocess.DEVNULL)
    ports = {"plain": free_port(), "tls": free_port()}
    text = (HERE / "nginx.conf").read_text()
    for name, value in {**ports, "folder": folder, "answer": "x" * 1024}.items():
        text = text.replace(f"@{name}@", str(value))
    (pathlib.Path(folder) / "nginx.conf").write_text(text)
    process = subprocess.Popen(["taskset", "-c", "0", "nginx", "-p", folder, "-c", f"{folder}/nginx.conf"])
    for port in ports.values():
        wait_for(port)
    return process, f"http://127.0.0.1:{ports['plain']}/", f"https://127.0.0.1:{ports['tls']}/"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seconds", type=int, default=2)
    arguments.add_argument("--connections", default="1,20,100,500")
    arguments.add_argument("--binary", default=str(ROOT / "target/release/tollgate"))
    arguments = arguments.parse_args()
    known = generators(arguments.binary)
    print(f"{', '.join(known)}; {arguments.rounds} rounds of {arguments.seconds} s each; ratios are to wrk", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        nginx, plain, tls = start_nginx(arguments.binary, folder)
        try:
            for title, url in (("HTTP", plain), ("TLS 1.3", tls)):
                for connections in map(int, arguments.connections.split(",")):
                    compare(title, url, connections, known, arguments, folder)
        finally:
            nginx.terminate()
            nginx.wait()


def compare(title, url, connections, known, arguments, folder):
    found = {name: [] for name in known}
    for number in range(arguments.rounds):
        names = list(known) if number % 2 == 0 else list(reversed(known))
        for name in names:
            found[name].append(measure(known[name], url, connections, arguments.seconds, folder))
    print(f"\n{title}, {connections} connections\n\n| generator | requests/s | x wrk | CPU us | x wrk | MiB | x wrk |")
    print("|---|---|---|---|---|---|---|")
    for name, rounds in found.items():
        if not any(rounds):
            print(f"| {name} | did not answer | | | | | |")
            continue
        cells = []
        for figure in range(3):
            own = [each and each[figure] for each in rounds]
            base = [each and each[figure] for each in found.get("wrk", [])]
            middle = sorted(value for value in own if value)[len([value for value in own if value]) // 2]
            cells += [f"{middle:,.1f}" if figure else f"{middle:,.0f}", ratio(own, base)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
