"""Normalizers that take ASCII in a short way (norm/ascii.c), on texts that try what the way relies
on: marks behind ASCII and behind what is dropped, marks that are put into order, clusters; and
patterns that are found without the regex engine.

The model has every byte and no merge, so the ids are the bytes of the normalized text."""
import json
import random
import sys
from pathlib import Path

import pytest

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import Tokenizer, pre_tokenizers  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(Path(__file__).parent)]
from charsmap import precompiled  # noqa: E402
from test_tokenizer_live import SCALE, TOOL, Error, ask  # noqa: E402

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} is not built")

CHARS = [
    "a", "e", "A", "Z", "1", ".", "_", " ", "  ", "\n", "\r\n", "\r", "\t", "\0", "\x01", "\x1c",
    "\x7f", "\x85", "\xad", "\u200b", "\u200d", "\ufeff", "\ufffd", "\u0301", "\u0308", "\u0323",
    "\u0345", "\u302e", "\U0001d165", "\u0600", "\u0d4e", "é", "Å", "\u212b", "\u212a", "ß", "ẞ",
    "ı", "İ", "ς", "Σ", "ǅ", "ﬁ", "½", "①", "ａ", "１", "中", "豈", "\u3000", "\u2028", "が", "ｶ",
    "ﾞ", "한", "\u1112", "\u1161", "\u11ab", "ا", "ב", "ְ", "ำ", "😀", "👍🏽", "🇩🇪", "𠀀", "▁",
]
BERT = [{"type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese,
         "strip_accents": strip, "lowercase": lower}
        for clean in (True, False) for chinese in (True, False)
        for strip, lower in ((None, True), (None, False), (False, True), (True, False))]
NMT, LOWER, STRIP = {"type": "Nmt"}, {"type": "Lowercase"}, {"type": "StripAccents"}
FORMS = [{"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD")]
MAP = precompiled({
    "\r": " ", "\n": " ", "\t": " ", "\x01": "", "A": "a", "Z": "z", "é": "e", "e\u0301": "é",
    "\u0600a": "b", "ﬁ": "fi", "\u3000": " ", "①": "1", "👍🏽": "+"})
PAIR = precompiled({"\r\n": "\n", "a": "b"})
SPACES = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
RUNS = [{"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
        for pattern, content in (("a+", "-"), ("a{1,}", ""), ("b{3,}", "é"), (" {9,}", "|"))]
NORMALIZERS = BERT + FORMS + RUNS + [NMT, LOWER, STRIP, MAP, PAIR] + [
    {"type": "Sequence", "normalizers": parts} for parts in (
        [NMT, FORMS[0]], [BERT[0], FORMS[0]], [FORMS[2], LOWER, STRIP], [FORMS[1], STRIP, FORMS[0]],
        [MAP, SPACES], [NMT, FORMS[2], SPACES], [LOWER, MAP, FORMS[0]], [], [PAIR, LOWER])]


MARKS = ["\u0301", "\u0323", "\u302e", "\U0001d165", "\u0345", "\u3099"]
BETWEEN = ["", "\x1c", "\x01" * 3, "\x01" * 40, "\u200b", "\t", "b"]
CLOSE = [base + first + between + second for base in ("", "e", "é", "b\x01", "か") for first in MARKS
         for between in BETWEEN for second in MARKS]


def texts(seed):
    rng = random.Random(seed)
    yield from CLOSE
    for _ in range(int(400 * SCALE) or 1):
        chars = rng.sample(CHARS, rng.choice([3, 5, 12, len(CHARS)])) + ["a"]
        text = "".join(rng.choice(chars) for _ in range(rng.randrange(40)))
        if rng.random() < 0.3:  # far from each other
            gap = rng.choice(["b", "\x01", "b\x01"]) * rng.choice([31, 32, 33, 34, 70])
            text = gap.join(text[i : i + 3] for i in range(0, len(text), 3))
        yield text


def compare(tmp_path, normalizer, cases):
    vocab = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    pretok = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({
        "added_tokens": [], "normalizer": normalizer, "pre_tokenizer": pretok, "post_processor": None,
        "decoder": None, "model": {"type": "BPE", "vocab": vocab, "merges": []}}))
    reference = Tokenizer.from_file(str(path))
    answers = ask(path, [("e", 0, text.encode()) for text in cases])
    for text, answer in zip(cases, answers, strict=True):
        try:
            want = reference.encode(text).ids
        except BaseException as e:  # the library panics
            assert isinstance(answer, Error), (text, e)
            continue
        assert not isinstance(answer, Error), (text, answer)
        assert answer[0] == want, text


@pytest.mark.parametrize("at", range(len(NORMALIZERS)))
def test_short_way(tmp_path, at):
    compare(tmp_path, NORMALIZERS[at], list(texts(at)))


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_every_character(tmp_path, at):
    """Of the first planes, each between others by chance."""
    rng = random.Random(at)
    chars = [chr(c) for c in range(0x20000) if not 0xD800 <= c < 0xE000]
    rng.shuffle(chars)
    behind = ["", "", "a", " ", "\u0301", "\u302e", "\x01", "中"]
    cases = ["".join(c + rng.choice(behind) for c in chars[i : i + 50])
             for i in range(0, len(chars), 50)]
    compare(tmp_path, BERT[at], cases)
