#!/usr/bin/env python3
"""`tollgate load` against wrk, ab, hey, oha and k6 (those that are installed) on the same nginx, back to back in one run.

nginx with 1 KiB on core 0, generators in turns on core 1 with one thread, loopback only, connections that stay open. Every
round runs each generator once at each number of connections, every other round in the opposite order. Requests per second
are by the generator's own clock; CPU is all of its process's, from its start to its end, by request: k6's holds its
JavaScript, the others' their start too. Memory is its largest resident size. A ratio is that to wrk in the same round: the
geometric mean over the rounds with the smallest and the largest. tollgate load records every latency meanwhile, as it always
does.

Beside the median that each prints stands what arithmetic says of it. N users who wait have N / throughput seconds for a request
and for what the generator does until the next one, on average. A median may lie below that mean, as times are skewed; but
the percentiles 50, 75, 90, 99 and 100 bound the mean from both sides, whatever lies between them. Where N / throughput is
not within those bounds, the printed distribution is not that of the requests that were sent: above them, time of the users
is left out (or spent in the generator between two requests); below them, something was added.

Needs nginx, wrk and taskset (Debian: nginx-light wrk util-linux) and a release build. What else is installed is run too:
ab and hey (Debian: apache2-utils hey), oha (`cargo install oha --version 1.10.0 --locked`), k6 (`go install
go.k6.io/k6@v1.3.0`).

    cargo build --release && python3 bench/load/compare.py [--rounds 7] [--seconds 2] [--connections 1,20,100,500] [--only http]
"""
import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from compare import ROOT, free_port, wait_for  # noqa: E402

sys.path.insert(0, str(HERE))
from generators import installed, mean_between  # noqa: E402

PINNED = ["taskset", "-c", "1"]
PROTOCOLS = {"http": "HTTP", "tls": "TLS 1.3"}


def resident_kib(pid):
    """Largest resident size so far; 0 once it has ended, and while it is still taskset's."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found.group(1)) if found and "Name:\ttaskset" not in status else 0


def measure(how, url, connections, seconds, folder):
    """Requests per second, CPU microseconds per request, MiB resident at most, and the percentiles that it prints."""
    line, read = how
    with tempfile.TemporaryFile("w+") as out:
        # Its own process is waited for, so that its CPU is no other's; taskset becomes it.
        resident = 0
        process = subprocess.Popen(PINNED + line(url, connections, seconds, folder), stdout=out, stderr=subprocess.DEVNULL)
        while True:
            ended, _, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            # The peak that wait4 tells of is this script's own, from before the generator was executed.
            resident = max(resident, resident_kib(process.pid))
            time.sleep(0.05)
        process.returncode = 0
        out.seek(0)
        requests, per_second, times = read(out.read(), folder)
    if requests == 0:
        return None
    return per_second, (used.ru_utime + used.ru_stime) * 1e6 / requests, resident / 1024, times


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
    arguments.add_argument("--only", choices=sorted(PROTOCOLS), action="append")
    arguments.add_argument("--binary", default=str(ROOT / "target/release/tollgate"))
    arguments = arguments.parse_args()
    known = installed(arguments.binary)
    print(f"{', '.join(known)}; {arguments.rounds} rounds of {arguments.seconds} s each; ratios are to wrk", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        nginx, plain, tls = start_nginx(arguments.binary, folder)
        try:
            for name in arguments.only or PROTOCOLS:
                for connections in map(int, arguments.connections.split(",")):
                    url = {"http": plain, "tls": tls}[name]
                    compare(PROTOCOLS[name], url, connections, known, arguments, folder)
        finally:
            nginx.terminate()
            nginx.wait()


def middle(values):
    return sorted(values)[len(values) // 2]


def compare(title, url, connections, known, arguments, folder):
    found = {name: [] for name in known}
    for number in range(arguments.rounds):
        names = list(known) if number % 2 == 0 else list(reversed(known))
        for name in names:
            found[name].append(measure(known[name], url, connections, arguments.seconds, folder))
    print(f"\n{title}, {connections} connection{'s' if connections > 1 else ''}\n")
    print("| generator | requests/s | x wrk | CPU us | x wrk | MiB | x wrk | p50 us | N / throughput | within |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, rounds in found.items():
        if not any(rounds):
            print(f"| {name} | did not answer |" + " |" * 8)
            continue
        cells = []
        for figure in range(3):
            own = [each and each[figure] for each in rounds]
            base = [each and each[figure] for each in found.get("wrk", [])]
            value = middle([value for value in own if value])
            cells += [f"{value:,.1f}" if figure else f"{value:,.0f}", ratio(own, base)]
        print(f"| {name} | {' | '.join(cells + arithmetic(rounds, connections))} |", flush=True)


def arithmetic(rounds, connections):
    """The printed median, the mean time that a user had for a request, and what the printed percentiles allow for it: of the
    round with the middle median."""
    printed = sorted((each for each in rounds if each and each[3]), key=lambda each: each[3][0])
    if not printed:
        mean = middle([connections * 1e6 / each[0] for each in rounds if each])
        return ["-", f"{mean:,.1f}", "-"]
    per_second, _, _, times = printed[len(printed) // 2]
    mean, (least, most) = connections * 1e6 / per_second, mean_between(times)
    verdict = "yes" if least <= mean <= most else "**no**"
    return [f"{times[0]:,.1f}", f"{mean:,.1f}", f"{least:,.1f} - {most:,.1f}: {verdict}"]


if __name__ == "__main__":
    main()
