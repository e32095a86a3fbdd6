"""A parent process for the aggregator: its sockets, its flags, and frames as it would send them."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

msgspec = pytest.importorskip("msgspec")
zmq = pytest.importorskip("zmq")

TOPIC_BYTES = 40
BATCH = b"batch".ljust(TOPIC_BYTES, b"\0")
MET = b"MET".ljust(TOPIC_BYTES, b"\0")
START = 10**12


def record(event_type, ts=START, uuid="", data=None, **more):
    """The bytes of one record."""
    return msgspec.msgpack.encode({"event_type": event_type, "timestamp_ns": ts,
                                   "sample_uuid": uuid, "conversation_id": "", "turn": None,
                                   "data": data, **more})


def single(payload, topic=b"sample.issued"):
    return topic.ljust(TOPIC_BYTES, b"\0") + payload


def batch(payloads):
    return BATCH + msgspec.msgpack.encode(list(payloads))


def decode_met(frame):
    """A MET frame as the dict of final_snapshot.json."""
    assert frame[:TOPIC_BYTES] == MET
    counter, ts, state, pending, metrics = msgspec.msgpack.decode(frame[TOPIC_BYTES:])
    out = []
    for m in metrics:
        if m[0] == "counter":
            out.append({"type": "counter", "name": m[1], "value": m[2]})
            continue
        d = dict(zip(("type", "name", "count", "total", "min", "max", "sum_sq", "percentiles"), m))
        if m[9] is not None:
            d["early_stopping_percentiles"] = m[9]
        d["histogram"] = m[8]
        out.append(d)
    return {"counter": counter, "timestamp_ns": ts, "state": state, "n_pending_tasks": pending,
            "metrics": out}


def values(snapshot):
    """name -> value of a counter, count of a series; and n_pending_tasks."""
    found = {m["name"]: m.get("value", m.get("count")) for m in snapshot["metrics"]}
    return found | {"n_pending_tasks": snapshot["n_pending_tasks"], "state": snapshot["state"]}


class Parent:
    """Starts the aggregator and talks to it; use as a context manager.

    program is tokdrain, or the list of arguments that starts another one with the same flags."""

    def __init__(self, program, flags=(), subscribe=True, ready=True, environment=None,
                 preexec=None, patience=30):
        base = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.dir = Path(tempfile.mkdtemp(prefix="td_", dir=base))
        self.out = self.dir / "out"
        self.out.mkdir()
        self.ctx = zmq.Context()
        self.pub = self._socket(zmq.XPUB, sndhwm=0)
        self.pub.setsockopt(zmq.XPUB_VERBOSE, 1)
        (self.dir / "s").mkdir()
        self.pub.bind(f"ipc://{self.dir}/s/ev")
        self.pull = self._socket(zmq.PULL)
        self.pull.bind(f"ipc://{self.dir}/s/rdy")
        self.sub = None
        if subscribe:
            self.subscribe()
        self.frames = []
        self.log_path = self.dir / "log.txt"
        start = program if isinstance(program, list) else [str(program), "aggregate"]
        argv = [*start, "--socket-dir", f"{self.dir}/s", "--socket-name", "ev",
                "--metrics-socket", "met", "--metrics-output-dir", str(self.out),
                "--readiness-path", "rdy", "--readiness-id", "7", *flags]
        self.begun = time.monotonic()
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(argv, stdout=log, stderr=subprocess.STDOUT,
                                            env={**os.environ, **(environment or {})},
                                            preexec_fn=preexec)
        if ready:
            self.wait_ready(patience)

    def _socket(self, kind, sndhwm=None):
        socket = self.ctx.socket(kind)
        socket.setsockopt(zmq.LINGER, 0)
        if sndhwm is not None:
            socket.setsockopt(zmq.SNDHWM, sndhwm)
        return socket

    def subscribe(self):
        self.sub = self._socket(zmq.SUB)
        self.sub.setsockopt(zmq.RCVHWM, 0)
        self.sub.setsockopt(zmq.RECONNECT_IVL, 5)
        self.sub.setsockopt(zmq.SUBSCRIBE, b"")
        self.sub.connect(f"ipc://{self.dir}/s/met")

    def wait_ready(self, patience=30):
        deadline = time.monotonic() + patience
        while not self.pull.poll(20):
            assert self.process.poll() is None and time.monotonic() < deadline, self.log()
        assert msgspec.msgpack.decode(self.pull.recv()) == 7
        self.ready_s = time.monotonic() - self.begun
        message = b"\0"
        while message[:1] != b"\1":  # others may be the end of an earlier one
            assert self.pub.poll(5000), "no subscription on the event socket"
            message = self.pub.recv()
        time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for socket in (self.pub, self.pull, self.sub):
            if socket is not None:
                socket.close()
        self.ctx.term()
        os.chmod(self.out, 0o755) if self.out.exists() else None
        shutil.rmtree(self.dir, ignore_errors=True)

    def send(self, *frames):
        for frame in frames:
            self.pub.send(frame)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def read_frames(self, timeout=0):
        while self.sub is not None and self.sub.poll(timeout):
            self.frames.append(self.sub.recv())
            timeout = 0

    def snapshots(self):
        self.read_frames()
        return [decode_met(f) for f in self.frames]

    def wait_for(self, patience=20, **want):
        """Until a live frame shows these values."""
        deadline = time.monotonic() + patience
        while True:
            self.read_frames(20)
            got = values(decode_met(self.frames[-1])) if self.frames else {}
            if all(got.get(k) == v for k, v in want.items()):
                return got
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < deadline, f"{want} not reached: {got}\n{self.log()}"

    def wait(self, timeout=20):
        """The exit status."""
        status = self.process.wait(timeout)
        self.read_frames(200)
        return status

    def end(self, ts=START + 10**9):
        self.send(single(record("session.ended", ts), b"session.ended"))
        assert self.wait() == 0, self.log()
        return self.final()

    def final(self):
        return json.loads((self.out / "final_snapshot.json").read_text())

    def log(self):
        return self.log_path.read_text(errors="replace")


def terminate(parent):
    parent.signal(signal.SIGTERM)
    return parent.wait()
