"""SentencePiece models, real ones and ones made by its trainer, compared with sentencepiece."""
import random
import struct
from pathlib import Path

import pytest
from formats_reference import (compare_decode, compare_encode, corpora, formats, random_lists,
                               random_texts)
from test_tokenizer_live import SCALE, Error, ask

__all__ = ["corpora", "formats"]  # fixtures

REAL = ["tokenizer.model.v1", "mistral_instruct_tokenizer_240216.model.v2",
        "mistral_instruct_tokenizer_240323.model.v3", "mistral_instruct_tokenizer_241114.model.v7"]
PARTS = ["<s>", "</s>", "<unk>", "[INST]", "[REFERENCE_DOC_19]", "[REF]", "▁", "▁▁", " ", "  ", "the ", "\u3000",
         "<0x41>", "ﬁ", "①", "ｱ", "e\u0301", "\u200b", "\ufeff", "㍿", "ﷺ", "\u1100\u1161"]
ENDS = ["", " ", "   ", " a", "a ", " a  b ", "\n", "\t\n a\n", "▁", "▁a", "a▁", "\u3000", "\u3000a\u3000",
        "a" * 3000, " " * 3000, "ab " * 2000, "\u0301" * 500, "日" * 1000]


@pytest.mark.parametrize("name", REAL)
def test_real(formats, corpora, name):
    path = Path(formats.ask(op="mistral")["folder"]) / name
    assert formats.open("sentencepiece", path) is None
    texts = random_texts(PARTS, 500, 1) + ENDS
    compare_encode(formats, path, "", texts)
    compare_encode(formats, path, "", texts[:200], special=False, bos=True)
    compare_encode(formats, path, "", corpora)
    compare_decode(formats, path, "", random_lists(formats, texts[:200], 32800))


# ---- made models ----

WORDS = ["the", "then", "there", "other", "abc", "ab", "bc", "caba", "1234", "56", "été", "日本", "日本語", "ﬁne",
         "Ｗide", "--", "...", "a", "b", "NAÏVE", "straße", "x²", "e\u0301a"]


def sentences():
    rng = random.Random(11)
    return [" ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 12))) for _ in range(600)]


USER = {"user_defined_symbols": ["<u>", "ab", "abca", "▁x", "12", "日本", "<s>x"], "control_symbols": ["<c>", "<d>"]}
MADE = {
    "unigram": ({}, {}),
    "unigram without normalization": ({"normalization_rule_name": "identity"}, {}),
    "unigram nfkc": ({"normalization_rule_name": "nfkc"}, {}),
    "unigram folding": ({"normalization_rule_name": "nmt_nfkc_cf"}, {}),
    "unigram bytes": ({"byte_fallback": True, "vocab_size": 400}, {}),
    "unigram user": (USER, {}),
    "unigram user bytes": ({**USER, "byte_fallback": True, "vocab_size": 400}, {}),
    "unigram ties": ({}, {"round": 1.0}),
    "unigram one score": ({}, {"round": 1000.0}),
    "unigram unused": ({}, {"types": [[3, 5]]}),
    "unigram unused and user": (USER, {"types": [[4, 5], [7, 4]], "round": 0.5}),
    "unigram spaces kept": ({"remove_extra_whitespaces": False}, {}),
    "unigram no prefix": ({"add_dummy_prefix": False}, {}),
    "unigram no prefix, spaces kept": ({"add_dummy_prefix": False, "remove_extra_whitespaces": False}, {}),
    "unigram suffix": ({"treat_whitespace_as_suffix": True}, {}),
    "unigram suffix, spaces kept": ({"treat_whitespace_as_suffix": True, "remove_extra_whitespaces": False}, {}),
    "unigram not escaped": ({}, {"normalizer_spec": {"escape_whitespaces": False}}),
    "unigram surface": ({"unk_surface": "?!"}, {}),
    "unigram denormalizer": ({}, {"denormalizer_spec": {"precompiled_charsmap": "copy"}}),
    "unigram no bos": ({"bos_id": -1}, {}),
    "unigram other pieces": ({"bos_piece": "[B]", "unk_piece": "[U]", "unk_id": 3, "bos_id": 0, "eos_id": 1}, {}),
    "bpe": ({"model_type": "bpe"}, {}),
    "bpe without normalization": ({"model_type": "bpe", "normalization_rule_name": "identity"}, {}),
    "bpe bytes": ({"model_type": "bpe", "byte_fallback": True, "vocab_size": 400}, {}),
    "bpe bytes plain": ({"model_type": "bpe", "byte_fallback": True, "vocab_size": 400,
                         "normalization_rule_name": "identity", "remove_extra_whitespaces": False}, {}),
    "bpe user": ({"model_type": "bpe", **USER}, {}),
    "bpe user bytes": ({"model_type": "bpe", **USER, "byte_fallback": True, "vocab_size": 400}, {}),
    "bpe ties": ({"model_type": "bpe"}, {"round": 8.0}),
    "bpe ties bytes": ({"model_type": "bpe", "byte_fallback": True, "vocab_size": 400}, {"round": 8.0}),
    "bpe one score": ({"model_type": "bpe"}, {"round": 1000.0}),
    "bpe unused": ({"model_type": "bpe"}, {"types": [[3, 5]]}),
    "bpe unused ties": ({"model_type": "bpe"}, {"types": [[2, 5]], "round": 16.0}),
    "bpe unused and user": ({"model_type": "bpe", **USER}, {"types": [[3, 5], [5, 4]]}),
    "bpe unused bytes": ({"model_type": "bpe", "byte_fallback": True, "vocab_size": 400}, {"types": [[3, 5]]}),
    "bpe lost characters": ({"model_type": "bpe"}, {"more": [["zq", -1.0, 1], ["zqz", -2.0, 1], ["qz", -3.0, 5],
                                                           ["Q", 0.0, 3]]}),
    "bpe suffix": ({"model_type": "bpe", "treat_whitespace_as_suffix": True}, {}),
    "bpe spaces kept": ({"model_type": "bpe", "remove_extra_whitespaces": False, "add_dummy_prefix": False}, {}),
    "char": ({"model_type": "char", "vocab_size": 60}, {}),
    "char user": ({"model_type": "char", "vocab_size": 60, **USER}, {}),
    "char bytes": ({"model_type": "char", "vocab_size": 400, "byte_fallback": True}, {}),
    "word": ({"model_type": "word", "vocab_size": 26}, {}),
    "word suffix": ({"model_type": "word", "vocab_size": 26, "treat_whitespace_as_suffix": True}, {}),
}


def make(formats, path, options, changes):
    """A model of MADE, written to path; what its trainer tells."""
    made = formats.ask(op="train", path=str(path), sentences=sentences(), changes=changes,
                       options={"vocab_size": 120, "hard_vocab_limit": False, **options})
    if "No module named 'google" in made.get("error", ""):
        pytest.skip("protobuf is absent in build/formats")
    assert "error" not in made, made
    return made


def maker(formats, folder, models):
    """A function that gives the path of one of models, made once."""
    paths = {}

    def get(name):
        if name not in paths:
            path = folder / f"{len(paths)}.model"
            make(formats, path, *models[name])
            paths[name] = path
        return paths[name]
    return get


@pytest.mark.parametrize("name", MADE)
def test_made(tmp_path, formats, name):
    path = tmp_path / "made.model"
    made = make(formats, path, *MADE[name])
    assert formats.open("sentencepiece", path) is None
    contents = WORDS + PARTS + ["<u>", "<c>", "abca", "▁x", "x", "zqz", "z", "q", "Q", "ab", "12"]
    rng = random.Random(5)
    texts = ["".join(rng.choice(contents + [" ", " "]) for _ in range(rng.randint(0, 14)))
             for _ in range(int(400 * SCALE))]
    texts += random_texts(contents, 200, 6) + [t[:600] for t in ENDS] + ["".join(texts)]
    compare_encode(formats, path, "", texts)
    compare_encode(formats, path, "", texts[:100], special=False, bos=True)
    compare_decode(formats, path, "", random_lists(formats, texts, made["pieces"] + 3))


def field(number, wire, payload):
    """One field of a message: 0 a number, 2 bytes, 5 a float."""
    def varint(n):
        out = b""
        while n > 127:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])
    head = varint(number << 3 | wire)
    if wire == 0:
        return head + varint(payload)
    return head + (struct.pack("<f", payload) if wire == 5 else varint(len(payload)) + payload)


def piece(text, kind=1, score=0.0):
    return field(1, 2, field(1, 2, text.encode() if isinstance(text, str) else text) +
                 field(2, 5, score) + field(3, 0, kind))


GOOD = piece("<unk>", 2) + piece("a") + piece("b") + piece("ab")
BROKEN = {
    "cut off": (GOOD[:-3], "a field is longer than its message"),
    "number cut off": (GOOD + b"\x0a\x80", "a number is cut off"),
    "number too long": (GOOD + b"\x0a" + b"\x80" * 11, "a number is longer than 10 bytes"),
    "group": (GOOD + b"\x0b", "a field of a kind that is not used here"),
    "field zero": (GOOD + b"\x02\x00", "a field number is out of range"),
    "empty piece": (GOOD + piece(""), "piece 4 is empty"),
    "twice": (GOOD + piece("a"), "the pieces 1 and 4 are the same"),
    "no unknown": (piece("a") + piece("b"), "0 unknown pieces, expected 1"),
    "two unknown": (GOOD + piece("?", 2), "2 unknown pieces, expected 1"),
    "bytes without fallback": (GOOD + piece("<0x00>", 6), "although byte_fallback is not set"),
    "fallback without bytes": (GOOD + field(2, 2, field(35, 0, 1)), "0 of 256 byte pieces"),
    "no pieces": (field(2, 2, field(3, 0, 2)), "nor a SentencePiece model with pieces"),
    "not UTF-8": (GOOD + piece(b"\xff"), "piece 4 is not UTF-8"),
    "no number": (GOOD + piece("c", score=float("nan")), "the score of piece 4 is no finite number"),
    "character map": (GOOD + field(3, 2, field(2, 2, b"\xff\xff\xff\xff")), "precompiled_charsmap: not a character map"),
    "some text": (b"once upon a time", "neither JSON nor tiktoken ranks"),
    "nothing": (b"", "expected '{' in JSON"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken(tmp_path, formats, name):
    content, message = BROKEN[name]
    path = tmp_path / "broken.model"
    path.write_bytes(content)
    (answer,) = ask(path, [("v", 0, b"")], "")
    assert isinstance(answer, Error) and message in answer
    if name not in ("not UTF-8", "no number", "nothing"):  # those the library may load
        assert formats.open("sentencepiece", path) is not None


def test_small(tmp_path, formats):
    """Unknown fields, repeated specifications and kinds of pieces are read as protobuf has it."""
    path = tmp_path / "small.model"
    path.write_bytes(field(2, 2, field(3, 0, 2)) + GOOD + piece("c", 77) + field(3, 2, field(3, 0, 0)) +
                     field(99, 0, 5) + field(98, 5, 1.0) + field(3, 2, field(4, 0, 0)) + piece("▁"))
    assert formats.open("sentencepiece", path) is None
    compare_encode(formats, path, "", ["ab", " ab c", "abcab", "x", "", "ba ab", "cc  x"])
