"""The versions of loops for vectors and the plain ones give the same.

build/tests/tools/token_tool and json_tool are there a second time, built with TD_NO_SIMD: their
answers are compared byte for byte on corpora, random strings, strings of added tokens and JSON."""
import json
import random
import re
import struct
import subprocess

import pytest
import test_corpora_live as corpora
import test_json_live
from test_tokenizer_live import ADD_SPECIAL, PLAIN_TEXT, ROOT, SCALE, TOOL, random_text

SCALAR = TOOL.with_name(TOOL.name + "_scalar")
JSON_TOOL = test_json_live.TOOL
USES = re.compile(r"\b(TD_X86|TD_NO_SIMD|__SSE2__|td_cpu_best)\b")

pytestmark = pytest.mark.skipif(not SCALAR.exists(), reason=f"{SCALAR} is not built")


def answers(tool, arguments, cases):
    data = b"".join(op.encode() + head + struct.pack("<I", len(arg)) + arg for op, head, arg in cases)
    return subprocess.run([tool, *arguments], input=data, stdout=subprocess.PIPE, check=True).stdout


def texts_of(contents):
    part = max(1, int(2000 * SCALE))
    rng = random.Random(corpora.SEED)
    for kind in [*corpora.CORPORA, "mixed"]:
        text = corpora.corpus(kind)
        yield text
        yield from corpora.pieces(text)
    yield from (random_text(rng, contents) for _ in range(part))
    for length in range(130):  # ends of blocks
        yield "x" * length + "é" + "y " * (length // 3)
        yield " " * length + "\u3000'll"


@pytest.mark.parametrize("name", [*corpora.MODELS, "default"])
def test_encode(root, model_dir, name):
    path = (root / "assets" / "default" if name == "default" else model_dir(name)) / "tokenizer.json"
    contents = [t["content"] for t in json.loads(path.read_text())["added_tokens"]]
    cases = []
    for i, text in enumerate(texts_of(contents)):
        data = text.encode()
        cases.append(("e", bytes([(ADD_SPECIAL if i % 2 else 0) | (PLAIN_TEXT if i % 5 == 0 else 0)]), data))
        if i % 7 == 0:  # not UTF-8
            at = (i * 31) % (len(data) + 1)
            cases.append(("e", b"\0", data[:at] + bytes([0x80 + i % 128]) + data[at:]))
    assert answers(TOOL, [path], cases) == answers(SCALAR, [path], cases)


def test_json():
    cases = []
    for text in texts_of(["\"", "\\", "\x7f", "\u2028", "\x00", "\x1f"]):
        for dump in (json.dumps(text), json.dumps([text, {text: text}], ensure_ascii=False)):
            cases += [(op, b"", dump.encode()) for op in "rcaR"]
            cases.append(("r", b"", dump[:-3].encode()))
    assert answers(JSON_TOOL, [], cases) == answers(JSON_TOOL.with_name("json_tool_scalar"), [], cases)


def uses_vectors(path, seen):
    """cpu.h only tells what there is; what a self-checking build adds compares both itself."""
    if path in seen or path.name in ("cpu.h", "selfcheck.c"):
        return False
    seen.add(path)
    text = path.read_text()
    headers = (ROOT / "src" / name for name in re.findall(r'#include "([^"]+)"', text))
    return bool(USES.search(text)) or any(uses_vectors(h, seen) for h in headers if h.exists())


@pytest.mark.once
def test_nothing_is_missing():
    listed = set(re.findall(r"'\.\./\.\./(src/[^']+)'", (ROOT / "tests/tools/meson.build").read_text()))
    used = {str(p.relative_to(ROOT)) for p in (ROOT / "src").rglob("*.c") if uses_vectors(p, set())}
    assert listed == used
