"""An external worker that misbehaves as its requests and options say; the standard library only.

A text counts as its bytes. A text "FAULT:N ..." makes it fail; a fault that is "once" comes only
while its file in the --state folder is not there, so that the retry succeeds."""
import argparse
import os
import random
import signal
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from tokdrain_worker import pack, receive, send  # noqa: E402


def hog(megabytes):
    keep = bytearray(megabytes << 20)
    for i in range(0, len(keep), 4096):
        keep[i] = 1
    return keep


def fault(name, connection, item, options):
    if name == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    elif name == "exit":
        os._exit(3)
    elif name == "hang":
        time.sleep(1000)
    elif name == "close":
        connection.close()
        time.sleep(1000)
    elif name == "garbage":
        connection.sendall(struct.pack(">I", 5) + b"\xc1abcd")
    elif name == "noise":
        connection.sendall(os.urandom(64))
        time.sleep(1000)
    elif name == "length":
        connection.sendall(struct.pack(">I", 0xffffffff))
        time.sleep(1000)
    elif name == "short":
        connection.sendall(struct.pack(">I", 100) + b"\x81")
        os._exit(0)
    elif name == "other":
        send(connection, {"seq": item["seq"] + 1, "tokens": 1})
    elif name == "both":
        send(connection, {"seq": item["seq"], "tokens": 1,
                          "error": {"kind": "input", "message": "x"}})
    elif name == "kind":
        send(connection, {"seq": item["seq"], "error": {"kind": "?", "message": "x"}})
    elif name == "trailing":
        body = pack({"seq": item["seq"], "tokens": 1}) + b"\0"
        connection.sendall(struct.pack(">I", len(body)) + body)
    elif name == "twice":  # the second answer must not become the next item's
        for _ in range(2):
            send(connection, {"seq": item["seq"], "tokens": len(item["text"])})
    elif name == "hog":
        keep = hog(options.hog)
        time.sleep(1000)
        del keep
    elif name == "slow":
        time.sleep(0.2)
        send(connection, {"seq": item["seq"], "tokens": len(item["text"])})
    elif name == "error":
        send(connection, {"seq": item["seq"], "error": {"kind": "template", "message": "no\nway"}})
    else:
        raise ValueError(name)


def answer(connection, item, options):
    text = item.get("text", item.get("request"))
    words = text.decode("utf-8", "replace").split() if "text" in item else []
    name, _, number = words[0].partition(":") if words else ("", "", "")
    if number:
        once = name.endswith("1")
        done = Path(options.state or "/nonexistent") / f"{number}.done"
        if not once or not done.exists():
            if once:
                done.touch()
            fault(name.removesuffix("1"), connection, item, options)
            return
    send(connection, {"seq": item["seq"], "tokens": len(text)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--state")
    parser.add_argument("--pids", help="folder: a file for each process that starts")
    parser.add_argument("--start", default="good")
    parser.add_argument("--hog", type=int, default=400)
    options = parser.parse_args()
    connection = socket.socket(fileno=3)
    if options.pids:
        (Path(options.pids) / str(os.getpid())).touch()
    print("this is not an answer", flush=True)  # standard output is not the socket
    hello = receive(connection)
    assert hello["protocol"] == 1
    start = options.start
    if start == "mixed":  # the first few are good, later ones are what they like
        few = len(list(Path(options.pids).iterdir())) <= 3
        start = "good" if few else random.choice(["good", "good", "slow", "exit", "model"])
    if start == "slow":
        time.sleep(0.3)
    elif start == "hang":
        time.sleep(1000)
    elif start == "exit":
        os._exit(4)
    elif start == "refuse":
        send(connection, {"protocol": 1, "error": {"kind": "worker", "message": "no such model"}})
        time.sleep(1000)
    elif start == "version":
        send(connection, {"protocol": 2, "model": "fault"})
    elif start == "garbage":
        connection.sendall(b"hello, world\n")
        time.sleep(1000)
    elif start == "hog":
        hog(options.hog)
    model = "another" if start == "model" else "fault"
    if start == "unsteady":
        model = str(os.getpid())
    send(connection, {"protocol": 1, "model": model})
    while (item := receive(connection)) is not None:
        answer(connection, item, options)


main()
