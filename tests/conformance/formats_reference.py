"""The libraries of other vocabulary formats, asked through a process in their own environment.

TD_FORMATS is a Python that has the packages of tests/requirements_formats.txt (default:
build/formats/bin/python, which `make test` makes); tests that need it are skipped without it."""
import json
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from test_tokenizer_live import ADD_SPECIAL, PLAIN_TEXT, SCALE, SKIP_SPECIAL, Error, ask, random_text

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(os.environ.get("TD_FORMATS") or ROOT / "build" / "formats" / "bin" / "python")
SERVER = Path(__file__).with_name("formats_server.py")


class Reference:
    def __init__(self):
        if not PYTHON.exists():
            pytest.skip("the libraries of other formats are absent (build/formats, TD_FORMATS)")
        self.process = subprocess.Popen([PYTHON, SERVER], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def open(self, kind, path, encoding=None):
        """The error as text, or None."""
        return self.ask(op="open", kind=kind, path=str(path), encoding=encoding).get("error")

    def open_directory(self, path):
        """As AutoTokenizer opens it; without transformers the test is skipped."""
        error = self.open("auto", path)
        if error is not None and "No module named 'transformers'" in error:
            pytest.skip("transformers is absent in build/formats")
        return error

    def encode(self, texts, special=True, bos=False):
        return self.ask(op="encode", texts=texts, special=special, bos=bos)["results"]

    def decode(self, lists, skip=False):
        return self.ask(op="decode", lists=lists, skip=skip)["results"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture(scope="module")
def formats():
    reference = Reference()
    yield reference
    reference.close()


@pytest.fixture(scope="session")
def corpora():
    """English, code, Chinese/Japanese/Korean, JSON and mixed text, whole and in pieces of 4 KB."""
    sys.path.insert(0, str(ROOT / "bench"))
    import encode
    size = int(60_000 * SCALE)
    parts = [encode.fill(make(), size).decode()
             for make in (encode.english, encode.stdlib, encode.cjk, encode.json_lines)]
    parts.append("".join(p[at : at + 900] for at in range(0, size, 900) for p in parts)[:size])
    return parts + [p[at : at + 4096] for p in parts for at in range(0, len(p), 4096)]


def character_spans(text, spans):
    """Byte spans as code points; a place inside a character is that of its start."""
    index, at = {}, 0
    for i, c in enumerate(text):
        for k in range(len(c.encode())):
            index[at + k] = i
        at += len(c.encode())
    index[at] = len(text)
    return [[index[start], index[end]] for start, end in spans]


def compare_encode(reference, path, encoding, texts, special=True, bos=False, offsets=True,
                   newer=lambda text: False):
    """newer(text): tokdrain may refuse it. The number of texts that both encode."""
    flags = (0 if special else PLAIN_TEXT) | (ADD_SPECIAL if bos else 0)
    answers = ask(path, [("e", flags, t.encode()) for t in texts], encoding)
    wanted = reference.encode(texts, special, bos)
    assert len(answers) == len(texts), answers[:1]
    both = 0
    for text, want, answer in zip(texts, wanted, answers):
        if "error" in want:
            # tiktoken's regex engine gives up on long white space: that is no reason for us to.
            assert isinstance(answer, Error) or "Panic" in want["error"], (text[:200], want, answer)
            continue
        if isinstance(answer, Error) and newer(text):
            continue
        assert not isinstance(answer, Error), (text[:200], answer)
        ids, spans = answer
        assert ids == want["ids"], (text[:200], special, bos)
        both += 1
        if offsets and "starts" in want:
            assert [s for s, _ in character_spans(text, spans)] == want["starts"], text[:200]
        if offsets and "bytes" in want:
            spans = spans[len(ids) - len(want["bytes"]) :]  # without the token in front
            assert [list(s) for s in spans] == want["bytes"], text[:200]
    return both


def compare_decode(reference, path, encoding, lists):
    for skip in (False, True):
        wanted = reference.decode(lists, skip)
        answers = ask(path, [("d", SKIP_SPECIAL if skip else 0, struct.pack(f"<{len(i)}I", *i))
                             for i in lists], encoding)
        for ids, want, answer in zip(lists, wanted, answers):
            if isinstance(want, dict):
                assert isinstance(answer, Error), (ids, want, answer)
            else:
                assert answer == want, ids


def random_texts(contents, count, seed):
    rng = random.Random(seed)
    return [random_text(rng, contents) for _ in range(int(count * SCALE))]


def random_lists(reference, texts, size, seed=2):
    """Ids of texts, and any ids."""
    rng = random.Random(seed)
    lists = [w["ids"] for w in reference.encode(texts) if "ids" in w]
    return lists + [[rng.randrange(size) for _ in range(rng.randint(0, 12))] for _ in range(300)]
