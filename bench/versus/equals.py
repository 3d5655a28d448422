#!/usr/bin/env python3
"""How often does `tollgate versus` see a difference between an address and itself?

One nginx with a small file; each run asks `tollgate versus` to compare its address with the same one. A run counts that claims a
toll on time or on CPU time. Of 100 runs at most five may. Needs nginx (Debian: nginx-light) and a release build. Loopback only.

    cargo build --release && python3 bench/versus/equals.py [--runs 100] [--users 1] [-- FURTHER FLAGS OF VERSUS]

Exit code 1 if more than one of twenty runs claims a toll.
"""
import argparse
import collections
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGURATION = """daemon off;
pid {folder}/nginx.pid;
error_log stderr error;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
  access_log off;
  keepalive_requests 1000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; }}
}}
"""
CLAIMS = {"dearer", "cheaper"}
# A run that marked something ends with 0, too; 3 says that what would be claimed was refused.
COMPLETE = {0, 3}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            sys.exit("nginx ended before it was ready")
        time.sleep(0.05)
    sys.exit("nginx was not ready in 30 s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--users", type=int, default=1)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "target/release/tollgate")
    parser.add_argument("further", nargs="*", help="flags of versus, behind --")
    arguments = parser.parse_args()
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        sys.exit("nginx is missing (apt-get install nginx-light)")
    claimed, marked, took = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        folder, port = pathlib.Path(folder), free_port()
        folder.chmod(0o755)
        (folder / "files").mkdir()
        (folder / "files/small.txt").write_text("0123456789abcdef" * 64)
        (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port))
        nginx = subprocess.Popen([program, "-c", str(folder / "nginx.conf"), "-e", "stderr"])
        try:
            wait_for(port, nginx)
            url = f"http://127.0.0.1:{port}/small.txt"
            for number in range(arguments.runs):
                began = time.monotonic()
                line = [arguments.binary, "versus", url, url, "-c", str(arguments.users), "--json", "--out", folder / str(number)]
                run = subprocess.run([*line, *arguments.further], capture_output=True, text=True)
                took.append(time.monotonic() - began)
                if run.returncode not in COMPLETE:
                    sys.exit(f"run {number} ended with {run.returncode}:\n{run.stderr}")
                result = json.loads(run.stdout)
                seen = {toll["figure"] for toll in result["tolls"] if toll["verdict"] in CLAIMS}
                claimed.update(seen)
                claimed["any"] += bool(seen)
                marked.update({doubt["rule"] for doubt in result["validity"]})
                print(f"{number + 1}: {', '.join(sorted(seen)) or 'no toll'}; {took[-1]:.1f} s", flush=True)
                shutil.rmtree(folder / str(number))
        finally:
            nginx.terminate()
            nginx.wait()
    by_figure = ", ".join(f"{figure} {count}" for figure, count in sorted(claimed.items()) if figure != "any") or "none"
    marks = ", ".join(f"{rule} {count}" for rule, count in marked.most_common()) or "none"
    print(f"{claimed['any']} of {arguments.runs} runs of equals claimed a toll ({by_figure})")
    print(f"marks: {marks}; the longest run took {max(took):.1f} s")
    sys.exit(claimed["any"] * 20 > arguments.runs)


if __name__ == "__main__":
    main()
