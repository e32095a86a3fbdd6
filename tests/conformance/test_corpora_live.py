"""Every real tokenizer on large texts, beside tokenizers (its file) and AutoTokenizer (its folder).

Ids, offsets (file) and decoded text, and with them counts, segments and batches, for: corpora of
English, code, CJK, JSON and mixed text, whole and in pieces of 4 KB; random strings that hold every
code point at least once; strings full of the model's added tokens; and inputs that are hard on
engines. TD_TEST_SCALE=128 takes all of it: 4 MB of each corpus, 100,000 random strings, 1 MB of each
hard input. The default is a part that runs in seconds."""
import functools
import json
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from test_tokenizer_live import (ADD_SPECIAL, CODE_POINTS, SCALE, TOOL, Error, ask, random_text)
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import encode as bench  # noqa: E402

MODELS = ["qwen3", "llama3", "llama3_1", "gptoss", "gpt4o", "gpt35turbo", "deepseek_v3", "deepseek_v4",
          "gemma3", "gemini", "claude", "llama2"]
CORPORA = {"english": bench.english, "code": bench.stdlib, "cjk": bench.cjk, "json": bench.json_lines}
PART = min(1.0, SCALE / 128)
CORPUS_BYTES, PIECE_BYTES, GROUP_BYTES = int(PART * (4 << 20)), 4096, 8 << 20
STRINGS, TOKEN_STRINGS = int(PART * 100_000), int(PART * 4000) or 1
SEED = int(os.environ.get("TD_TEST_SEED", "1"))

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built")


# ---- texts ----

@functools.cache
def corpus(name):
    if name == "mixed":
        parts = [corpus(k) for k in CORPORA]
        return bench.fill((t[at:at + 1500] for at in range(0, CORPUS_BYTES, 1500) for t in parts),
                          CORPUS_BYTES).decode()
    return bench.fill(CORPORA[name](), CORPUS_BYTES).decode()


def pieces(text):
    """Of 4 KB, cut where a character starts."""
    data, out, at = text.encode(), [], 0
    while at < len(data):
        end = min(at + PIECE_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        out.append(data[at:end].decode())
        at = end
    return out


@functools.cache
def code_points():
    """All of them in an order of their own; a part of them when only a part is run."""
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    random.Random(SEED).shuffle(points)
    return points[:int(len(points) * PART)]


def random_strings(contents):
    """Random strings, among whose characters the code points are dealt out."""
    rng, points = random.Random(SEED), code_points()
    each = -(-len(points) // max(STRINGS, 1))
    for at in range(STRINGS):
        text = list(random_text(rng, contents)[:60])
        for c in points[at * each:(at + 1) * each]:
            text.insert(rng.randint(0, len(text)), chr(c))
        yield "".join(text)


GLUE = ["", "", " ", "  ", "\n", "\t ", "a", "the ", "é", "'s", "\u3000", "<", "12"]


def token_strings(contents):
    """Added tokens one after the other, cut short, and between what they may swallow."""
    rng = random.Random(SEED)
    for _ in range(TOKEN_STRINGS if contents else 0):
        out = []
        for _ in range(rng.randint(1, 25)):
            token = rng.choice(contents)
            if rng.random() < 0.15:
                token = token[rng.randint(0, len(token)):]
            elif rng.random() < 0.15:
                token = token[:rng.randint(0, len(token))]
            out += [token, rng.choice(GLUE)]
        yield "".join(out)


def hard_inputs():
    """Runs, words and changes without end (TOKENIZERS.md has what they do to engines)."""
    rng, size = random.Random(SEED), int(PART * (1 << 20))
    letters = "abcdefghijklmnopqrstuvwxyz"
    base64 = letters + letters.upper() + "0123456789+/"
    emoji = ["\U0001f469", "\U0001f4bb", "\u200d", "\U0001f3fd", "\ufe0f", "\U0001f9d1"]
    marks = [chr(c) for c in (*range(0x300, 0x370), 0x1AB0, 0x1DC0, 0x20D0, 0x3099, 0xFE20)]
    for unit in ("a", " ", "\n", "1", "!", "\u4e2d", "\u0301", "\U0001f600", "\n ", " a", "\u00a0", "\r\n",
                 "'s", "A", "\u2581", "\x00", "ab", "\u00e9", "\u0e01"):
        yield unit * (size // len(unit.encode()))
    yield "".join(rng.choice(("ab", "aab", "\u00e9", "\u0e01\u0e32", "-", "  \n", "\u2581"))
                  * rng.randrange(size // 2) + rng.choice(("", "c", " ")) for _ in range(5))[:size]
    for alphabet, part in ((letters, 1), (base64, 1), ("0123456789", 1), (" \t\n\r", 1), (emoji, 5), (marks, 5)):
        yield "".join(rng.choices(alphabet, k=size // part))
    yield "".join(chr(rng.randrange(0x4E00, 0x9FFF)) for _ in range(size // 15))
    yield "e" + "".join(sorted(rng.choices(marks, k=size // 10)))
    yield "".join(chr(0xAC00 + 28 * rng.randrange(399)) + "\u11a8" for _ in range(size // 30))


def contents_of(reference):
    return [t.content for t in reference.get_added_tokens_decoder().values() if t.content]


def corpus_cases(contents):
    texts = [corpus(kind) for kind in [*CORPORA, "mixed"]]
    return [*((t, False) for t in texts), *((p, True) for t in texts for p in pieces(t))]


def string_cases(contents):
    return [*((t, False) for t in random_strings(contents)), *((t, True) for t in token_strings(contents))]


def hard_cases(contents):
    return [(t, False) for t in hard_inputs()]


def groups(cases):
    """Cases (text, whether with special tokens) that are compared together."""
    out, size = [], 0
    for case in cases:
        out.append(case)
        size += len(case[0].encode())
        if size > GROUP_BYTES:
            yield out
            out, size = [], 0
    yield out


# ---- comparing ----

@functools.lru_cache(maxsize=1)
def references(folder):
    """Of the file and of the folder, and whether the folder's is just the file's."""
    from transformers import AutoTokenizer
    of_file = Tokenizer.from_file(str(folder / "tokenizer.json"))
    of_folder = AutoTokenizer.from_pretrained(str(folder))
    return of_file, of_folder, of_file.to_str() == of_folder.backend_tokenizer.to_str()


def compare_file(path, reference, cases):
    """The reference's ids."""
    texts = [t for t, _ in cases]
    answers = ask(path, [("e", CODE_POINTS | (ADD_SPECIAL if s else 0), t.encode()) for t, s in cases])
    assert len(answers) == len(cases), answers[:1]
    wants = [reference.encode(t, add_special_tokens=s) for t, s in cases]
    for text, got, want in zip(texts, answers, wants):
        assert not isinstance(got, Error), (text[:200], got)
        assert got[0] == want.ids, text[:2000]
        assert got[1] == want.offsets, text[:2000]
    lists = [w.ids for w in wants]
    decoded = ask(path, [("d", 0, struct.pack(f"<{len(ids)}I", *ids)) for ids in lists])
    for ids, got in zip(lists, decoded, strict=True):
        assert got == reference.decode(ids, skip_special_tokens=False), ids[:500]
    return lists


def lines_of(program, command, folder, requests):
    done = subprocess.run([program, command, "-m", folder], stdout=subprocess.PIPE, check=True,
                          input="".join(json.dumps(r) + "\n" for r in requests).encode())
    return [json.loads(line) for line in done.stdout.splitlines()]


def compare_folder(program, folder, reference, cases, known):
    """known: the ids where they are known from the file; every twentieth is asked for again."""
    requests = [{"text": t, "add_special_tokens": s} for t, s in cases]
    wants = known or [None] * len(cases)
    wants = [reference(t, add_special_tokens=s)["input_ids"] if known is None or i % 20 == 0 else wants[i]
             for i, (t, s) in enumerate(cases)]
    encoded = lines_of(program, "encode", folder, requests)
    counted = lines_of(program, "count", folder, requests)
    decoded = lines_of(program, "decode", folder, [{"ids": w} for w in wants])
    rows = zip(cases, wants, encoded, counted, decoded, strict=True)
    for i, ((text, _), want, ids, count, back) in enumerate(rows):
        assert ids["ids"] == want, text[:2000]
        assert count["tokens"] == len(want), text[:2000]
        if known is None or i % 20 == 0:
            assert back["text"] == reference.decode(want), text[:2000]


def record(name, part, cases, tokens):
    """What was compared, for docs/tokenizers.md."""
    path = Path(os.environ.get("TD_BUILD") or "build") / "conformance.jsonl"
    with open(path, "a") as out:
        print(json.dumps({"model": name, "part": part, "scale": SCALE, "seed": SEED, "texts": len(cases),
                          "bytes": sum(len(t.encode()) for t, _ in cases), "tokens": tokens}), file=out)


@pytest.mark.parametrize("part", [corpus_cases, string_cases, hard_cases], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_model(program, model_dir, name, part):
    folder, tokens = model_dir(name), 0
    of_file, of_folder, same = references(folder)
    cases = part(list(dict.fromkeys(contents_of(of_file) + contents_of(of_folder.backend_tokenizer))))
    for some in groups(cases):
        ids = compare_file(folder / "tokenizer.json", of_file, some)
        compare_folder(program, folder, of_folder, some, ids if same else None)
        tokens += sum(map(len, ids))
    record(name, part.__name__, cases, tokens)
