"""Plain REST answers as its own description says: requests of all kinds, made up of that description by schemathesis.

    python described.py http://127.0.0.1:8080

What reads goes first, while there is something to be read: afterwards everything is deleted.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import requests

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
]
READING = ["GET", "HEAD", "OPTIONS"]
WRITING = ["POST", "PUT", "PATCH", "DELETE"]


def main():
    service = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        description = Path(folder, "openapi.json")
        description.write_text(json.dumps(strict(service)))
        for methods in (READING, WRITING):
            run(service, description, methods, folder)


def strict(service):
    """The description without what any request may be told: whatever an operation answers must then be said of it."""
    answer = requests.get(f"{service}/rest/openapi.json", timeout=10)
    answer.raise_for_status()
    document = answer.json()
    for path in document["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                operation["responses"].pop("default", None)
    return document


def token(service):
    """The fields without which nothing may be written."""
    answer = requests.get(f"{service}/odata/v4/refsvc/", headers={"X-CSRF-Token": "Fetch"}, timeout=10)
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in answer.cookies)
    return {"X-CSRF-Token": answer.headers["X-CSRF-Token"], "Cookie": cookies}


def run(service, description, methods, folder):
    command = [str(Path(sys.executable).with_name("schemathesis")), "--no-color", "run", str(description)]
    command += ["--url", service, "--phases", "fuzzing", "--max-examples", "10", "--generation-deterministic"]
    command += ["--checks", ",".join(CHECKS), "--continue-on-failure", "--warnings", "off"]
    command += ["--suppress-health-check", "all", "--request-timeout", "60"]
    for method in methods:
        command += ["--include-method", method]
    if methods is WRITING:
        for name, value in token(service).items():
            command += ["--header", f"{name}:{value}"]
    # It keeps what it found where it runs.
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    told = "\n".join(line[:500] for line in done.stdout.splitlines())
    if done.returncode:
        sys.exit(told)
    cases = next(line.strip() for line in told.splitlines() if " generated" in line)
    print(f"ok   schemathesis, {' '.join(methods)}: {cases}")


main()
