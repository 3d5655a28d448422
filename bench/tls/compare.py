#!/usr/bin/env python3
"""What TLS costs the gateway and the generator, against nginx and wrk, back to back in one run.

Subject on core 0, generator on core 1, loopback only; nginx and `tollgate serve` have one worker or loop and the same
P-256 certificate of `tollgate cert`. Every round measures each once, every other round in the opposite order; a ratio is
the geometric mean over the rounds with its 95 % interval (Student's t on the logarithms). A subject's CPU is that of
/proc/PID/task/*/schedstat, a generator's that of its whole process.

  kept        CPU per request of the gateway's cached 1 KiB over TLS 1.3, 20 connections, against nginx's `return 200`
  handshakes  CPU per full handshake: a connection for each request, no session taken up
  idle        resident memory of connections that had one answer each and wait, with TLS and without
  silent      2,000 connections that send nothing, half a first message, or all of it and never the second: how long fresh
              clients (a connection, a full handshake, a request) wait beforehand and meanwhile, and what closes when
  generator   CPU per request of `tollgate load` and of the engine alone (the example `ask`) against wrk, on nginx

Needs nginx, wrk and taskset (Debian: nginx-light wrk util-linux) and release builds.

    cargo build --release && cargo build --release -p tollgate-net --example ask
    python3 bench/tls/compare.py [kept] [handshakes] [idle] [silent] [generator] [--rounds 9] [--seconds 2]
"""
import argparse
import base64
import math
import pathlib
import re
import resource
import select
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from compare import ROOT, cpu_ns, family_cpu_ns, free_port, wait_for  # noqa: E402

PAGE = "/fibonacci?n=20&bytes=1024"
USER, PASSWORD = "ann", "a password of some length"
BASIC = "Authorization: Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
CLOSE = "Connection: close"
IDLE_CONNECTIONS = 2560
SILENT_CONNECTIONS = 2000
# They are closed after 10 s; beyond this they count as left open.
SILENT_S = 20
# Student's t, 97.5 %, by degrees of freedom from 1.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09]


class Subject:
    """A server that was started, with what of it counts."""

    def __init__(self, process, cpu, kept, full, plain=None, admin=None):
        self.process, self.cpu, self.kept, self.full = process, cpu, kept, full
        self.plain, self.admin = plain, admin

    def cpu_ns(self):
        return self.cpu(self.process.pid)

    def resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024

    def handshakes(self):
        """Full and resumed ones of the gateway."""
        text = urllib.request.urlopen(self.admin + "/metrics", timeout=5).read().decode()
        line = r'tollgate_tls_handshakes_total\{[^}]*kind="%s"[^}]*\} (\d+)'
        return [sum(map(int, re.findall(line % kind, text))) for kind in ("full", "resumed")]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


def filled(name, **values):
    text = (HERE / name).read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def start_nginx(folder):
    kept, full = free_port(), free_port()
    text = filled("nginx.conf", folder=folder, certificates=folder, kept=kept, full=full, answer="x" * 1024)
    (folder / "nginx.conf").write_text(text)
    process = subprocess.Popen(["taskset", "-c", "0", "nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])
    wait_for(full)
    return Subject(process, family_cpu_ns, f"https://127.0.0.1:{kept}/", f"https://127.0.0.1:{full}/")


def start_tollgate(binary, folder, users=False):
    text = filled("tollgate.toml", certificates=folder)
    if users:
        command = [binary, "password", USER]
        made = subprocess.run(command, input=PASSWORD + "\n", capture_output=True, text=True, check=True)
        (folder / "users").write_text(made.stdout)
        text += filled("users.toml", users=folder / "users")
    config = folder / ("users.toml" if users else "gateway.toml")
    config.write_text(text)
    process = subprocess.Popen(["taskset", "-c", "0", binary, "serve", str(config)], stdout=subprocess.PIPE, text=True)
    listening = []
    for line in process.stdout:
        kind, url = line.split()[:2]
        if kind == "admin":
            plain, kept, full = (address.rstrip("/") + PAGE for address in listening)
            return Subject(process, cpu_ns, kept, full, plain, url.rstrip("/"))
        listening.append(url)
    sys.exit("tollgate serve did not start")


def spent(command):
    """What a command printed, and its own CPU time in nanoseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(["taskset", "-c", "1", *command], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{ran.stdout}{ran.stderr}")
    return ran.stdout, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9


def wrk(url, seconds, *headers):
    """Requests answered, and wrk's CPU time."""
    fields = [part for header in headers for part in ("-H", header)]
    out, cpu = spent(["wrk", "-t1", "-c20", f"-d{seconds}s", *fields, url])
    if "Non-2xx" in out:
        sys.exit(f"{url} did not answer 2xx:\n{out}")
    return int(re.search(r"(\d+) requests in", out).group(1)), cpu


def tollgate_load(binary, url, seconds, *flags):
    out, cpu = spent([binary, "load", "--json", "--insecure", "--duration", f"{seconds}s", "-c", "20", *flags, url])
    return int(re.search(r'"requests": ?(\d+)', out).group(1)), cpu


def ask(ask_binary, url, seconds, life):
    out, cpu = spent([ask_binary, url, "20", str(seconds), life])
    return int(out.split()[0]), cpu


def served(subject, seconds, url, *headers):
    """The subject's CPU per request in microseconds, asked by wrk."""
    before = subject.cpu_ns()
    requests, _ = wrk(url, seconds, *headers)
    return (subject.cpu_ns() - before) / requests / 1e3


def generated(measured):
    requests, cpu = measured
    return cpu / requests / 1e3


def rounds_of(cells, rounds):
    """Each cell once a round, in alternating order; the values by name."""
    values = {name: [] for name, _ in cells}
    for index in range(rounds):
        for name, measure in cells if index % 2 == 0 else reversed(cells):
            values[name].append(measure())
    return values


def table(title, what, values, baseline):
    print(f"\n## {title}\n\n| {what} | CPU us, median | range | by {baseline} | 95 % |\n|---|---|---|---|---|")
    for name, cells in values.items():
        logs = [math.log(value / base) for value, base in zip(cells, values[baseline])]
        middle = statistics.mean(logs)
        half = math.nan
        if len(logs) > 1:
            half = T[min(len(logs) - 2, len(T) - 1)] * statistics.stdev(logs) / math.sqrt(len(logs))
        low, high = math.exp(middle - half), math.exp(middle + half)
        ratio = f"{math.exp(middle):.2f} | {low:.2f} - {high:.2f}" if name != baseline else "1 | "
        print(f"| {name} | {statistics.median(cells):.2f} | {min(cells):.2f} - {max(cells):.2f} | {ratio} |", flush=True)


def kept(nginx, gateway, guarded, rounds, seconds):
    cells = [
        ("nginx", lambda: served(nginx, seconds, nginx.kept)),
        ("gateway, cached", lambda: served(gateway, seconds, gateway.kept)),
        ("gateway, cached, basic authentication", lambda: served(guarded, seconds, guarded.kept, BASIC)),
        ("gateway, cached, without TLS", lambda: served(gateway, seconds, gateway.plain)),
    ]
    for _, warm_up in cells:
        warm_up()
    table("1 KiB over TLS 1.3, 20 connections kept open", "subject", rounds_of(cells, rounds), "nginx")


def handshakes(nginx, gateway, rounds, seconds):
    before = gateway.handshakes()
    cells = [
        ("nginx", lambda: served(nginx, seconds, nginx.full, CLOSE)),
        ("gateway", lambda: served(gateway, seconds, gateway.full, CLOSE)),
    ]
    values = rounds_of(cells, rounds)
    full, resumed = (after - earlier for after, earlier in zip(gateway.handshakes(), before))
    table("A full P-256 handshake and a request each, TLS 1.3", "subject", values, "nginx")
    print(f"\nThe gateway counted {full} full handshakes and {resumed} resumed ones.")


def idle(binary, folder):
    print(f"\n## {IDLE_CONNECTIONS} idle connections\n\n| | resident MB before | with them | KB each |\n|---|---|---|---|")
    grown = {}
    for name in ("plain", "TLS"):
        gateway = start_tollgate(binary, folder)
        try:
            url = gateway.plain if name == "plain" else gateway.kept
            # A first one warms up: what the gateway makes once is no connection's.
            opened = [open_and_ask(url)]
            before = gateway.resident_bytes()
            opened += [open_and_ask(url) for _ in range(IDLE_CONNECTIONS)]
            after = gateway.resident_bytes()
            for connection in opened:
                connection.close()
        finally:
            gateway.stop()
        grown[name] = after - before
        each = grown[name] / IDLE_CONNECTIONS / 1e3
        print(f"| {name} | {before / 1e6:.1f} | {after / 1e6:.1f} | {each:.1f} |", flush=True)
    print(f"\nTLS takes {(grown['TLS'] - grown['plain']) / 1e6:.1f} MB more.")


def open_and_ask(url):
    host, path = re.match(r"https?://([^/]+)(/.*)", url).groups()
    address, port = host.split(":")
    connection = socket.create_connection((address, int(port)), 10)
    # Else the request waits 40 ms for what acknowledges the handshake.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if url.startswith("https:"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = context.wrap_socket(connection)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer or not answer.endswith(b"\n"):
        answer += connection.recv(4096)
    return connection


def first_message():
    """What a client begins a handshake with."""
    outgoing = ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_bio(ssl.MemoryBIO(), outgoing).do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()


def fresh_ms(url):
    begun = time.monotonic()
    open_and_ask(url).close()
    return (time.monotonic() - begun) * 1e3


def silent(binary, folder):
    hello = first_message()
    kinds = [b"", hello[: len(hello) // 2], hello]
    gateway = start_tollgate(binary, folder)
    try:
        host, port = re.match(r"https://([^:]+):(\d+)", gateway.full).groups()
        fresh_ms(gateway.full)
        beforehand = [fresh_ms(gateway.full) for _ in range(50)]
        before, begun = gateway.resident_bytes(), time.monotonic()
        poll, left = select.poll(), {}
        for index in range(SILENT_CONNECTIONS):
            connection = socket.create_connection((host, int(port)), 10)
            connection.sendall(kinds[index % len(kinds)])
            left[connection.fileno()] = connection
            poll.register(connection, select.POLLIN)
        grown, meanwhile, closed = gateway.resident_bytes() - before, [], []
        while left and time.monotonic() - begun < SILENT_S:
            meanwhile.append(fresh_ms(gateway.full))
            for number, _ in poll.poll(20):
                # What answers a whole first message is read as well; the end is what counts.
                if not left[number].recv(65536):
                    poll.unregister(number)
                    left.pop(number).close()
                    closed.append(time.monotonic() - begun)
        metrics = urllib.request.urlopen(gateway.admin + "/metrics", timeout=5).read().decode()
    finally:
        gateway.stop()
    print(f"\n## {SILENT_CONNECTIONS} silent connections\n\n| fresh clients | n | median ms | slowest ms |\n|---|---|---|---|")
    for name, times in (("beforehand", beforehand), ("meanwhile", meanwhile)):
        print(f"| {name} | {len(times)} | {statistics.median(times):.1f} | {max(times):.1f} |")
    span = f"{closed[0]:.1f} to {closed[-1]:.1f} s after the first was opened" if closed else "never"
    print(f"\nThey took {grown / 1e6:.1f} MB; {len(closed)} were closed {span}, {len(left)} not. Failed handshakes counted:")
    for line in re.findall(r"^\w*handshake\w*fail\w*\{.*\} [1-9]\d*$", metrics, re.M):
        print(f"  {line}")


def generator(nginx, binary, ask_binary, rounds, seconds):
    kept = [
        ("wrk", lambda: generated(wrk(nginx.kept, seconds))),
        ("tollgate load", lambda: generated(tollgate_load(binary, nginx.kept, seconds, "-k"))),
        ("its engine alone", lambda: generated(ask(ask_binary, nginx.kept, seconds, "kept"))),
    ]
    table("Generator on nginx, 1 KiB over TLS 1.3, 20 connections kept open", "generator", rounds_of(kept, rounds), "wrk")
    full = [
        ("wrk", lambda: generated(wrk(nginx.full, seconds, CLOSE))),
        ("tollgate load", lambda: generated(tollgate_load(binary, nginx.full, seconds))),
        ("its engine alone", lambda: generated(ask(ask_binary, nginx.full, seconds, "full"))),
    ]
    table("Generator on nginx, a full handshake for each request", "generator", rounds_of(full, rounds), "wrk")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["kept", "handshakes", "idle", "silent", "generator"]
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--seconds", type=int, default=2)
    arguments.add_argument("--binary", default=str(ROOT / "target/release/tollgate"))
    arguments.add_argument("--ask", default=str(ROOT / "target/release/examples/ask"))
    arguments = arguments.parse_args()
    if unknown := set(arguments.parts) - set(parts):
        arguments.error(f"expected {', '.join(parts)}, found {', '.join(unknown)}")
    chosen, rounds, seconds = arguments.parts or parts, arguments.rounds, arguments.seconds
    started = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        made = [arguments.binary, "cert", "--out", folder, "--key", "p256", "--name", "127.0.0.1"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        try:
            started.append(nginx := start_nginx(folder))
            started.append(gateway := start_tollgate(arguments.binary, folder))
            if "kept" in chosen:
                started.append(guarded := start_tollgate(arguments.binary, folder, users=True))
                kept(nginx, gateway, guarded, rounds, seconds)
            if "handshakes" in chosen:
                handshakes(nginx, gateway, rounds, seconds)
            if "generator" in chosen:
                generator(nginx, arguments.binary, arguments.ask, rounds, seconds)
            if "idle" in chosen:
                idle(arguments.binary, folder)
            if "silent" in chosen:
                silent(arguments.binary, folder)
        finally:
            for subject in started:
                subject.stop()


if __name__ == "__main__":
    main()
