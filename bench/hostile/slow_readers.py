"""Memory and work that clients of a gateway can take without signing in.

    python3 bench/hostile/slow_readers.py target/release/tollgate            # all of it
    python3 bench/hostile/slow_readers.py target/release/tollgate --only slow --sockets 400

Each case starts a gateway of its own on free ports and ends it. It prints resident memory before, the most meanwhile,
and 10 s afterwards. What is asked for was read before, by every work process in the first case: SQLite keeps pages for
each.

- slow: clients with a receive buffer of 4 KiB ask for a three-level `$expand` and read nothing
- giant: one GET with five levels of `$expand`, read to its end
- nested: one GET with three nested `any`, and the CPU time that it takes

Nothing but Python's standard library is needed. Counts, bytes and times are bounded.
"""
import argparse
import json
import os
import re
import select
import socket
import subprocess
import threading
import time
import urllib.request

ROOT = "/odata/v4/flights/"
THREE = ROOT + "CarrierCollection?$expand=carrierFlights($expand=flightBookings($expand=bookedFlight))"
FIVE = ROOT + ("CarrierCollection?$expand=carrierFlights($expand=FlightCarrier($expand=carrierFlights"
               "($expand=FlightCarrier($expand=carrierFlights))))")
NESTED = ROOT + ("FlightCollection?$filter=FlightCarrier/carrierFlights/any(a:a/flightBookings/any(b:"
                 "b/bookedFlight/flightBookings/any(c:c/PASSNAME%20eq%20'nobody')))&$count=true&$top=1")
START_SECONDS_MAX = 60
ANSWER_SECONDS_MAX = 120
ANSWER_BYTES_MAX = 1 << 30
HOLD_SECONDS = 5
WARM_READERS = 40
AFTER_SECONDS = 10


class Gateway:
    """A gateway on free ports."""

    def __init__(self, binary):
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.ports = {}
        self.most_kib = 0
        deadline = time.monotonic() + START_SECONDS_MAX
        said = b""
        while b"\nadmin " not in said or not said.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not part:
                self.end()
                raise SystemExit("the gateway did not start")
            said += part
        for kind, url in (line.split(" ") for line in said.decode().splitlines()):
            self.ports[kind] = int(url.rsplit(":", 1)[1])

    def end(self):
        """Ends this process and no other one."""
        if self.process.poll() is None:
            os.kill(self.process.pid, 9)
        self.process.wait()

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            kib = int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])
        self.most_kib = max(self.most_kib, kib)
        return kib

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def limits(self):
        url = f"http://127.0.0.1:{self.ports['admin']}/status.json"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["limits"]

    def connect(self, receive_bytes=None):
        client = socket.socket()
        if receive_bytes:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        client.settimeout(ANSWER_SECONDS_MAX)
        client.connect(("127.0.0.1", self.ports["listening"]))
        return client

    def ask(self, client, target, close=False):
        connection = "Connection: close\r\n" if close else ""
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: test\r\n{connection}\r\n".encode())

    def answer(self, target):
        """Status, bytes and duration of one answer, and how it ended."""
        with self.connect() as client:
            began = time.monotonic()
            self.ask(client, target, close=True)
            beginning, last, count, end = b"", b"", 0, "whole"
            while count < ANSWER_BYTES_MAX:
                try:
                    part = client.recv(1 << 20)
                except OSError as error:
                    end = str(error)
                    break
                if not part:
                    break
                beginning = (beginning + part)[:300] if len(beginning) < 300 else beginning
                last = (last + part)[-8:]
                count += len(part)
                self.resident_kib()
            if end == "whole" and b"chunked" in beginning and not last.endswith(b"0\r\n\r\n"):
                end = "cut off"
            status = beginning.split(b" ", 2)[1].decode() if beginning else "none"
            return status, count, time.monotonic() - began, end


def mib(kib):
    return f"{kib / 1024:.1f} MiB"


def report(name, gateway, before, extra):
    time.sleep(AFTER_SECONDS)
    after = gateway.resident_kib()
    print(f"{name}: resident {mib(before)} before, {mib(gateway.most_kib)} at most, "
          f"{mib(after)} after {AFTER_SECONDS} s; {extra}", flush=True)
    for row in gateway.limits():
        if row["met"] and row["name"] in ("unsent_bytes_max", "answer_bytes_max", "answer_entities_max"):
            print(f"  {row['of']}: {row['name']} {row['limit']} was met {row['met']} times, at most {row['peak']}")


def warm(gateway):
    """Has every work process read all that will be asked for: SQLite's caches are no memory of answers."""
    fresh = gateway.resident_kib()
    for _ in range(3):
        readers = [threading.Thread(target=gateway.answer, args=(THREE,)) for _ in range(WARM_READERS)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    time.sleep(AFTER_SECONDS)
    gateway.most_kib = 0
    print(f"warm: resident {mib(fresh)} when fresh", flush=True)


def slow(gateway, sockets):
    warm(gateway)
    before = gateway.resident_kib()
    clients = []
    for _ in range(sockets):
        client = gateway.connect(receive_bytes=4096)
        gateway.ask(client, THREE)
        clients.append(client)
        gateway.resident_kib()
    deadline = time.monotonic() + HOLD_SECONDS
    while time.monotonic() < deadline:
        gateway.resident_kib()
        time.sleep(0.05)
    # A client that reads is served meanwhile.
    status, count, seconds, end = gateway.answer(ROOT + "CarrierCollection?$top=1")
    for client in clients:
        client.close()
    report(f"slow, {sockets} sockets", gateway, before, f"a reader: {status}, {count} bytes in {seconds:.3f} s, {end}")


def one(name, target):
    def case(gateway, _sockets):
        gateway.answer(target)
        time.sleep(AFTER_SECONDS)
        gateway.most_kib = 0
        before, cpu = gateway.resident_kib(), gateway.cpu_seconds()
        status, count, seconds, end = gateway.answer(target)
        cpu = gateway.cpu_seconds() - cpu
        report(name, gateway, before, f"{status}, {count} bytes in {seconds:.1f} s, {cpu:.1f} s of CPU, {end}")
    return case


CASES = {"slow": slow, "giant": one("giant", FIVE), "nested": one("nested", NESTED)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--only", choices=sorted(CASES))
    parser.add_argument("--sockets", type=int, default=400, choices=range(1, 2001), metavar="1..2000")
    asked = parser.parse_args()
    for name, case in CASES.items():
        if asked.only in (None, name):
            gateway = Gateway(asked.binary)
            try:
                case(gateway, asked.sockets)
            finally:
                gateway.end()


if __name__ == "__main__":
    main()
