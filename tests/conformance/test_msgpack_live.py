"""MessagePack, compared with msgspec and msgpack through build/tests/tools/json_tool."""
import json
import math
import os
import random
import struct

import msgpack
import msgspec
import pytest

from test_json_live import TOOL, ask

SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built")

EDGES = [0, 1, 31, 32, 33, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32,
         2**63 - 1, 2**63, 2**64 - 1]  # fmt: skip


def make(r, depth):
    kind = r.random()
    if depth > 0 and kind < 0.2:
        return [make(r, depth - 1) for _ in range(r.choice([0, 1, 2, 15, 16, 17]))]
    if depth > 0 and kind < 0.4:
        n = r.choice([0, 1, 2, 8, 9, 15, 16, 17])
        return {r.choice([f"k{i}", f"a longer key with number {i}", "é" * i]): make(r, depth - 1) for i in range(n)}
    if kind < 0.6:
        n = r.choice(EDGES) + r.randrange(-1, 2)
        n = max(0, min(n, 2**64 - 1))
        return n if r.random() < 0.6 or n > 2**63 else -n
    if kind < 0.7:
        return r.choice([0.0, -1.5, 1e300, math.inf, -math.inf, 0.1, 5e-324])
    if kind < 0.9:
        return r.choice(["", "a", "é", "日本", "😀", '"\\\n', "\x00"]) * r.choice([0, 1, 5, 31, 32, 70, 300, 70000])
    return r.choice([None, True, False])


def values(seed, n):
    r = random.Random(seed)
    return [make(r, r.choice([0, 1, 2, 3])) for _ in range(n)]


def test_read_and_write_values():
    things = values(1, int(1500 * SCALE))
    packed = [msgspec.msgpack.encode(v) for v in things]
    for v, data, (good, got) in zip(things, packed, ask([("m", d) for d in packed])):
        assert good and got == json.dumps(v, ensure_ascii=False).encode(), (v, got)
    texts = [json.dumps(v).encode() for v in things]
    for v, (good, got) in zip(things, ask([("w", t) for t in texts])):
        assert good and got == msgpack.packb(v), v
    for data, (good, got) in zip(packed, ask([("k", d + b"rest") for d in packed])):
        assert good and int(got) == len(data)


def test_wide_forms():
    """Numbers and sizes in longer forms than necessary, and float 32, are valid too."""
    cases = [(b"\xcc\x05", 5), (b"\xcd\x00\x05", 5), (b"\xce\0\0\0\5", 5), (b"\xcf" + b"\0" * 7 + b"\5", 5),
             (b"\xd0\xff", -1), (b"\xd1\xff\xff", -1), (b"\xd2" + b"\xff" * 4, -1), (b"\xd3" + b"\xff" * 8, -1),
             (b"\xca" + struct.pack(">f", 0.1), struct.unpack(">f", struct.pack(">f", 0.1))[0]),
             (b"\xd9\x01a", "a"), (b"\xda\0\1a", "a"), (b"\xdb\0\0\0\1a", "a"), (b"\xdc\0\1\x01", [1]),
             (b"\xdd\0\0\0\1\x01", [1]), (b"\xde\0\1\xa1a\x01", {"a": 1}), (b"\xdf\0\0\0\1\xa1a\x01", {"a": 1}),
             (b"\x82\xa1a\x01\xa1a\x02", {"a": 2}), (b"\x83\xa1a\x01\xa1b\x00\xa1a\x02", {"a": 2, "b": 0})]  # fmt: skip
    for (data, want), (good, got) in zip(cases, ask([("m", d) for d, _ in cases])):
        assert msgspec.msgpack.decode(data) == want
        assert good and got == json.dumps(want).encode(), (data, got)


def test_keys_of_any_kind():
    data = msgpack.packb({1: "int", None: "none", True: "same as 1", 2.5: "float", "s": "str"})
    good, got = ask([("m", data)])[0]
    want = {1: "int", None: "none", 2.5: "float", "s": "str"}
    want[True] = "same as 1"
    assert good and got == json.dumps(want).encode()


def test_cut_and_spoiled():
    """What is cut or flipped is refused by both, or means the same to both."""
    r = random.Random(2)
    cases = []
    for v in values(3, int(1500 * SCALE)):
        data = bytearray(msgspec.msgpack.encode(v))[:2000]
        if r.random() < 0.5:
            data = data[: r.randrange(len(data) + 1)]
        for _ in range(r.randrange(3)):
            if data:
                data[r.randrange(len(data))] = r.randrange(256)
        cases.append(bytes(data))
    refused = 0
    for data, (good, got) in zip(cases, ask([("m", d) for d in cases])):
        try:
            want = msgspec.msgpack.decode(data)
            text = json.dumps(want, ensure_ascii=False).encode()
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError, RecursionError):
            text = None  # malformed; or bin, extension types and tuples as keys, which JSON lacks
        if good:
            assert got == text, data
        else:
            assert text is None, (data, got)
            refused += 1
    assert refused > len(cases) / 10


def test_nesting():
    for data in (b"\x91" * 1000 + b"\xc0", b"\x81\xa0" * 1000 + b"\xc0"):
        assert ask([("m", data)])[0][0] and ask([("k", data)])[0][0]
    for data in (b"\x91" * 1001 + b"\xc0", b"\x81\xa0" * 1001 + b"\xc0", b"\x91" * 1_000_000):
        for op in "mk":
            good, got = ask([(op, data)])[0]
            assert not good and got.startswith(b"limit ")


def test_false_counts_take_no_memory():
    for data in (b"\xdd\xff\xff\xff\xff\x01", b"\xdf\xff\xff\xff\xff\x01", b"\xdb\xff\xff\xff\xff", b"\xdd\0\0\0\2\1"):
        good, got = ask([("m", data)])[0]
        assert not good and got.startswith(b"input 0 "), got
