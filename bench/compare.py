#!/usr/bin/env python3
"""CPU per request of tollgate's two halves against their peers, back to back in one run.

Subject: nginx with a fixed 1 KiB answer and `tollgate serve` take turns on core 0, wrk asks from core 1.
Generator: wrk and `tollgate load` take turns on core 1, nginx answers on core 0.
Every round measures each once; a ratio is the median over the rounds, with the smallest and largest beside it.
Needs nginx, wrk and taskset (Debian: nginx-light wrk util-linux) and a release build. Loopback only.

    cargo build --release && python3 bench/compare.py [--rounds 7] [--seconds 2]
"""
import argparse
import glob
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLIGHT_KEY = "carrid='AA',connid='0017'"
FLIGHT_V2 = f"/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection({FLIGHT_KEY},fldate='20110601')"
LIST_V2 = "/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/FlightCollection"
SUBJECTS = {
    "flight detail, REST JSON": ("/rest/flights/AA/0017/2011-06-01", "application/json"),
    "flight detail, V4 JSON": (f"/odata/v4/flights/FlightCollection({FLIGHT_KEY},fldate=2011-06-01)", "application/json"),
    "flight detail, V2 JSON": (FLIGHT_V2 + "?$format=json", "application/json"),
    "flight detail, V2 Atom": (FLIGHT_V2, "application/atom+xml"),
}
LISTS = {
    "list of 400, REST JSON": ("/rest/flights", "application/json"),
    "list of 400, V4 JSON": ("/odata/v4/flights/FlightCollection", "application/json"),
    "list of 400, V2 JSON": (LIST_V2 + "?$format=json", "application/json"),
    "list of 400, V2 Atom": (LIST_V2, "application/atom+xml"),
}


def cpu_ns(pid):
    """User and system time of a process and its threads, in nanoseconds."""
    return sum(int(open(path).read().split()[0]) for path in glob.glob(f"/proc/{pid}/task/*/schedstat"))


def family_cpu_ns(pid):
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    return cpu_ns(pid) + sum(cpu_ns(int(child)) for child in children)


def resident_mib(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) / 1024


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_nginx(folder):
    port = free_port()
    (folder / "nginx.conf").write_text(
        f"""worker_processes 1; daemon off; pid {folder}/pid; error_log stderr crit;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000; default_type application/octet-stream;
  server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ return 200 "{'x' * 1024}"; }} }} }}
"""
    )
    process = subprocess.Popen(["taskset", "-c", "0", "nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])
    wait_for(port)
    return process, f"http://127.0.0.1:{port}"


def start_tollgate(binary):
    process = subprocess.Popen(
        ["taskset", "-c", "0", binary, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if line.startswith("listening "):
            return process, line.split()[1]
    sys.exit("tollgate serve did not start")


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 0.1).close()
            return
        except OSError:
            time.sleep(0.02)
    sys.exit(f"nothing listens on port {port}")


def wrk(url, accept, connections, seconds):
    """Requests answered, bytes read, and wrk's own CPU time."""
    before = os.times()
    out = subprocess.run(
        ["taskset", "-c", "1", "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-H", f"Accept: {accept}", url],
        capture_output=True, text=True, check=True,
    ).stdout
    after = os.times()
    if "Non-2xx" in out:
        sys.exit(f"{url} did not answer 2xx:\n{out}")
    requests = int(re.search(r"(\d+) requests in", out).group(1))
    amount, unit = re.search(r"requests in [\d.]+\w+, ([\d.]+)(\w+) read", out).groups()
    read = float(amount) * {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}[unit]
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return requests, read, cpu * 1e9


def tollgate_load(binary, url, connections, seconds):
    before = os.times()
    out = subprocess.run(
        ["taskset", "-c", "1", binary, "load", "--json", "--duration", f"{seconds}s", "-k", "-c", str(connections), url],
        capture_output=True, text=True, check=True,
    ).stdout
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return json.loads(out)["requests"], cpu * 1e9


def row(name, values, baseline=None, digits=2):
    median = statistics.median(values)
    text = f"| {name} | {median:.{digits}f} | {min(values):.{digits}f} - {max(values):.{digits}f} |"
    if baseline:
        ratios = [value / base for value, base in zip(values, baseline)]
        text += f" {statistics.median(ratios):.2f} | {min(ratios):.2f} - {max(ratios):.2f} |"
    print(text, flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seconds", type=int, default=2)
    arguments.add_argument("--binary", default=str(ROOT / "target/release/tollgate"))
    arguments = arguments.parse_args()
    rounds, seconds, binary = range(arguments.rounds), arguments.seconds, arguments.binary
    started = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            nginx, nginx_url = start_nginx(pathlib.Path(folder))
            started.append(nginx)
            serve, serve_url = start_tollgate(binary)
            started.append(serve)
            subject(nginx, nginx_url, serve, serve_url, rounds, seconds)
            generator(nginx_url, binary, rounds, seconds)
        finally:
            for process in started:
                process.send_signal(signal.SIGTERM)
                process.wait(10)


def subject(nginx, nginx_url, serve, serve_url, rounds, seconds):
    nginx_us, subject_us, list_rate = [], {name: [] for name in SUBJECTS}, {name: [] for name in LISTS}
    for _ in rounds:
        before = family_cpu_ns(nginx.pid)
        requests, _, _ = wrk(nginx_url, "*/*", 20, seconds)
        nginx_us.append((family_cpu_ns(nginx.pid) - before) / requests / 1e3)
        for name, (path, accept) in SUBJECTS.items():
            before = cpu_ns(serve.pid)
            requests, _, _ = wrk(serve_url + path, accept, 20, seconds)
            subject_us[name].append((cpu_ns(serve.pid) - before) / requests / 1e3)
        for name, (path, accept) in LISTS.items():
            before = cpu_ns(serve.pid)
            _, read, _ = wrk(serve_url + path, accept, 20, seconds)
            list_rate[name].append(read / 1e6 / ((cpu_ns(serve.pid) - before) / 1e9))
    print("\n## Subject: CPU per request, 20 connections\n")
    print("| subject | CPU us, median | range | by nginx | range |\n|---|---|---|---|---|")
    row("nginx, fixed 1 KiB", nginx_us, nginx_us)
    for name, values in subject_us.items():
        row(name, values, nginx_us)
    print("\n| subject | MB of answer per CPU second, median | range |\n|---|---|---|")
    for name, values in list_rate.items():
        row(name, values, digits=0)
    print(f"\nLargest resident memory of `serve` over all of this: {resident_mib(serve.pid):.1f} MiB")


def generator(nginx_url, binary, rounds, seconds):
    print("\n## Generator: CPU per request on nginx's fixed 1 KiB\n")
    print("| connections | generator | CPU us, median | range | by wrk | range |\n|---|---|---|---|---|---|")
    for connections in (1, 20, 100):
        wrk_us, load_us = [], []
        for _ in rounds:
            requests, _, cpu = wrk(nginx_url, "*/*", connections, seconds)
            wrk_us.append(cpu / requests / 1e3)
            requests, cpu = tollgate_load(binary, nginx_url, connections, seconds)
            load_us.append(cpu / requests / 1e3)
        row(f"{connections} | wrk", wrk_us, wrk_us)
        row(f"{connections} | tollgate load", load_us, wrk_us)


if __name__ == "__main__":
    main()
