"""Running the program: run("count", "--summary", stdin="...") gives status, output, errors, results."""
import json
import subprocess
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def run(program):
    def call(*args, stdin=b"", timeout=120, **kwargs):
        if isinstance(stdin, str):
            stdin = stdin.encode()
        elif isinstance(stdin, list):
            stdin = lines(*stdin)
        done = subprocess.run([program, *map(str, args)], input=stdin, capture_output=True,
                              timeout=timeout, check=False, **kwargs)
        out = done.stdout.decode("utf-8", "surrogateescape")
        return SimpleNamespace(status=done.returncode, out=out, err=done.stderr.decode(errors="replace"),
                               results=Results(out))
    return call


class Results:
    """The result lines, parsed when they are asked for."""

    def __init__(self, out):
        self.out = out

    def __getitem__(self, i):
        return self.all()[i]

    def __len__(self):
        return len(self.all())

    def all(self):
        return [json.loads(line) for line in self.out.split("\n")[:-1]]


def lines(*requests):
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n"
                    for r in requests)


@pytest.fixture(scope="session")
def jsonl():
    return lines


@pytest.fixture(scope="session")
def chat():
    def make(text="Hello there", **more):
        return {"messages": [{"role": "user", "content": text}], **more}
    return make
