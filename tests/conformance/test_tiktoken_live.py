"""Files of tiktoken ranks and Mistral's tekken JSON, compared with tiktoken and mistral-common."""
import base64
import json
import random
import unicodedata
from pathlib import Path

import pytest
from formats_reference import (compare_decode, compare_encode, corpora, formats, random_lists,
                               random_texts)
from test_tokenizer_live import SCALE, Error, ask, every_character

__all__ = ["corpora", "formats"]  # fixtures

ENDS = ["a\n  ", "a \n\n ", "!\n \n", "x !\n\n", "  \n\n\t", "\n", "", " ", "\u3000\n\u00a0", "1 \r\n ",
        " " * 3000 + "x", "\n" * 3000, "a" * 20000, "".join("ab cd\n  "[i % 8] for i in range(9000))]
LLAMA3 = ["<|eot_id|>", "<|begin_of_text|>", "<|reserved_special_token_247|>", "<|reserved_special_token_0|>"]
LLAMA4 = ["<|eot|>", "<|begin_of_text|>", "<|reserved_special_token_903|>", "<|patch|>",
          "<|vision_reserved_special_token_1047|>", "<|text_post_train_reserved_special_token_68|>"]
OPENAI = ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "<|endof"]


@pytest.mark.parametrize("name, encoding, size", [
    ("r50k_base", "", 50260), ("p50k_base", "", 50285), ("p50k_base", "p50k_edit", 50290),
    ("cl100k_base", "", 100280), ("o200k_base", "", 200025), ("o200k_base", "o200k_harmony", 201095)])
def test_openai(model_file, formats, corpora, name, encoding, size):
    path = model_file(f"tiktoken/{name}.tiktoken")
    assert formats.open("tiktoken", path, encoding or name) is None
    contents = OPENAI + (["<|start|>", "<|reserved_200018|>"] if encoding == "o200k_harmony" else [])
    texts = random_texts(contents, 600, 1) + ENDS
    # tiktoken finds offsets by decoding, and this special token decodes as another one.
    odd = [t for t in texts if "<|reserved_200018|>" in t]
    compare_encode(formats, path, encoding, odd, offsets=False)
    texts = [t for t in texts if t not in odd]
    compare_encode(formats, path, encoding, texts)
    compare_encode(formats, path, encoding, texts, special=False)
    compare_encode(formats, path, encoding, corpora)
    compare_decode(formats, path, encoding, random_lists(formats, texts[:100], size))
    if name == "cl100k_base":
        compare_encode(formats, path, encoding, list(every_character())[:: max(1, int(5 / SCALE))],
                       offsets=False)


@pytest.mark.parametrize("name, contents", [("llama3", LLAMA3), ("llama4", LLAMA4)])
def test_llama(model_file, formats, corpora, name, contents):
    path = model_file(f"llama_models/{name}/tokenizer.model")
    folder = str(path.parents[1])
    assert formats.open("llama", path, [folder, f"{name}.tokenizer:Tokenizer"]) is None
    texts = random_texts(contents, 400, 2) + ENDS
    compare_encode(formats, path, "", texts)
    compare_encode(formats, path, "", texts, special=False)
    compare_encode(formats, path, "", texts[:100], bos=True)
    compare_encode(formats, path, "", corpora)
    compare_decode(formats, path, "", random_lists(formats, texts[:100], 202060))


def may_be_newer(text):
    """Characters of Unicode 10 to 14 that take part in normalization: tokdrain refuses them."""
    return any(unicodedata.combining(c) or unicodedata.decomposition(c) for c in text)


def test_qwen(model_file, formats, corpora):
    path = model_file("dashscope/resources/qwen.tiktoken")
    folder = str(path.parents[1])
    assert formats.open("qwen", path, [folder, "tokenizers.qwen_tokenizer:QwenTokenizer"]) is None
    contents = ["<|im_end|>", "<|im_start|>", "<|extra_204|>", "<|im_end|>\u0338", "e\u0301", "\u1100\u1161"]
    texts = random_texts(contents, 400, 3) + ENDS
    compare_encode(formats, path, "", texts, newer=may_be_newer)
    compare_encode(formats, path, "", texts, special=False, newer=may_be_newer)
    # Qwen's class cuts texts of more than 100,000 characters in pieces, tokdrain does not.
    compare_encode(formats, path, "", [t for t in corpora if len(t) <= 100_000])
    compare_decode(formats, path, "", random_lists(formats, texts[:100], 151860))


def test_nfc_of_every_character(model_file, formats):
    """Refused are the characters that CPython's newer Unicode treats otherwise, and only these."""
    path = model_file("dashscope/resources/qwen.tiktoken")
    folder = str(path.parents[1])
    assert formats.open("qwen", path, [folder, "tokenizers.qwen_tokenizer:QwenTokenizer"]) is None
    every = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Co", "Cs")]
    parts = {p for c in every for p in unicodedata.normalize("NFD", c) if p != c}
    special = [c for c in every if unicodedata.combining(c) or unicodedata.decomposition(c) or c in parts]
    plain = sorted(set(every).difference(special))
    texts = ["".join(f"x{c}\u0327\u0301" for c in plain[at : at + 500])
             for at in range(0, len(plain), 500)]
    assert compare_encode(formats, path, "", texts, offsets=False) == len(texts)
    pairs = {unicodedata.normalize("NFD", c) for c in special}
    texts = [f"x{c}\u0327{c}\u0345\u0334{c}" for c in special if not "\uac00" <= c < "\ud7a4"]
    texts += sorted(pairs)
    good = compare_encode(formats, path, "", texts, offsets=False, newer=lambda _: True)
    assert len(texts) - good < 210, "more is refused than has to be"


# ---- made files ----

def write_ranks(path, tokens):
    path.write_bytes(b"".join(base64.b64encode(t) + b" %d\n" % i for i, t in enumerate(tokens)))


def train(seed, count=900):
    """Ranks by merging the commonest pairs of small random words."""
    rng = random.Random(seed)
    words = ["".join(rng.choice("abcdeé ▁1日") for _ in range(rng.randint(1, 9))).encode()
             for _ in range(400)]
    parts = [[w[i : i + 1] for i in range(len(w))] for w in words]
    tokens = [bytes([b]) for b in range(256)]
    rng.shuffle(tokens)
    while len(tokens) < count:
        pairs = {}
        for p in parts:
            for pair in zip(p, p[1:]):
                pairs[pair] = pairs.get(pair, 0) + 1
        if not pairs:
            break
        left, right = max(pairs, key=lambda k: (pairs[k], k))
        if left + right not in tokens:
            tokens.append(left + right)
        for p in parts:
            i = 0
            while i + 1 < len(p):
                if (p[i], p[i + 1]) == (left, right):
                    p[i : i + 2] = [left + right]
                i += 1
    return tokens


@pytest.mark.parametrize("seed", range(3))
def test_made_ranks(tmp_path, formats, seed):
    """Also with tokens that no merge reaches and pairs that share a rank."""
    rng = random.Random(seed)
    tokens = train(seed)
    tokens += sorted({"".join(rng.choice("abcde") for _ in range(rng.randint(2, 5))).encode()
                      for _ in range(400)} - set(tokens))
    path = tmp_path / "made.tiktoken"
    write_ranks(path, tokens)
    text = "".join(rng.choice("abcdeé ▁1日") for _ in range(4000))
    texts = [text[at : at + n] for n in (7, 150) for at in range(0, 3000, n)] + [text, "abcde" * 500]
    for encoding in ("cl100k_base", "p50k_edit", "o200k_base"):
        assert formats.open("tiktoken", path, encoding) is None
        compare_encode(formats, path, encoding, texts)


@pytest.mark.parametrize("content, message", [
    (b"IQ== 0\n\nIg== 1\n", "254 of the 256 single bytes have no rank"),
    (b"IQ== 0\nIg==\n", "line 2: expected a token in base64 and its rank"),
    (b"IQ== 0\nIg== 1 2\n", "line 2: expected a token in base64 and its rank"),
    (b"IQ== 0\nIg= 1\n", "line 2: the token is not base64"),
    (b"IQ== 0\r\nIg== -1\n", "line 2: the rank is no number"),
    (b"IQ== 0\nIg== 99999999999\n", "line 2: the rank is no number"),
    (b"IQ== 0\nIg== 0\n", "two tokens have the rank 0"),
    (b"IQ== 0\nIQ== 1\n", "the ranks 0 and 1 are of the same token"),
])
def test_broken_ranks(tmp_path, content, message):
    path = tmp_path / "broken.tiktoken"
    path.write_bytes(content)
    answer = ask(path, [("v", 0, b"")], "cl100k_base")[0]
    assert isinstance(answer, Error) and message in answer


def test_unknown_family(tmp_path):
    path = tmp_path / "some.tiktoken"
    write_ranks(path, [bytes([b]) for b in range(256)])
    (answer,) = ask(path, [("v", 0, b"")], "")
    assert "256 ranks is of no known family" in answer and "cl100k_base, o200k_base" in answer
    (answer,) = ask(path, [("v", 0, b"")], "nope")
    assert 'unknown encoding "nope"' in answer
    write_ranks(path, [bytes([b]) for b in range(256)] + [b"ab%d" % i for i in range(100010)])
    (answer,) = ask(path, [("v", 0, b"")], "cl100k_base")
    assert "the id 100257 of <|endoftext|> is the rank of a token" in answer


# ---- tekken ----

@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_tekken(formats, corpora, name):
    path = Path(formats.ask(op="mistral")["folder"]) / name
    assert formats.open("tekken", path) is None
    texts = random_texts(["<s>", "[INST]", "<SPECIAL_999>"], 400, 4) + ENDS
    compare_encode(formats, path, "", texts)
    compare_encode(formats, path, "", texts[:100], bos=True)
    compare_encode(formats, path, "", corpora)
    compare_decode(formats, path, "", random_lists(formats, texts[:100], 131080))


PATTERN = "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"


def tekken(version="v7", pattern=PATTERN, specials=("<unk>", "<s>", "</s>", "[X]"), count=10, size=700,
           **more):
    tokens = [bytes([b]) for b in range(256)] + [t for t in train(5) if len(t) > 1]
    document = {"config": {"pattern": pattern, "num_vocab_tokens": len(tokens), "default_vocab_size": size,
                           "default_num_special_tokens": count, "version": version},
                "vocab": [{"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
                          for i, t in enumerate(tokens)]}
    if specials is not None:
        document["special_tokens"] = [{"rank": i, "token_str": s, "is_control": i != 3}
                                      for i, s in enumerate(specials)]
    return {**document, **more}


def changed(change, **options):
    document = tekken(**options)
    change(document)
    return document


TEKKENS = {
    **{f"version {v}": tekken(v) for v in ("v1", "v2", "v3", "v7", "v11", "v13", "v15", "v4", "7")},
    "no version": changed(lambda d: d["config"].pop("version")),
    "old specials": tekken("v3", specials=None, count=30),
    "old specials do not fit": tekken("v3", specials=None, count=10),
    "v11 without specials": tekken("v11", specials=None, count=30),
    "null specials": changed(lambda d: d.update(special_tokens=None), count=30),
    "no bos": tekken(specials=("<unk>", "[A]")),
    "twice the same": tekken(specials=("<unk>", "<s>", "<unk>")),
    "the name of a filler": tekken(specials=("<unk>", "<SPECIAL_5>")),
    "no specials at all": tekken(specials=(), count=0),
    "as many as there is room for": tekken(count=4),
    "too many": tekken(count=3),
    "vocabulary too short": tekken(size=100000),
    "all of the vocabulary": changed(lambda d: d["config"].update(default_vocab_size=len(d["vocab"]) + 10)),
    "wrong place": changed(lambda d: d["vocab"][300].update(rank=301)),
    "wrong byte": changed(lambda d: d["vocab"][200].update(token_bytes="QQ==")),
    "a key too many": changed(lambda d: d["vocab"][300].update(x=1)),
    "a key too few": changed(lambda d: d["vocab"][300].pop("token_str")),
    "broken behind the end": changed(lambda d: d["vocab"][699].update(rank=0)),
    "twice the same bytes": changed(lambda d: d["vocab"][300].update(token_bytes=d["vocab"][301]["token_bytes"])),
    "model settings": tekken("v15", model_settings_builder=None),
    "model settings too early": tekken("v13", model_settings_builder={}),
    "empty multimodal": tekken("v13", multimodal={}),
    "other pattern": tekken(pattern="\\p{L}+|[^\\p{L}]{1,2}"),
    "pattern with gaps": tekken(pattern="[a-c]+|\\s"),
}


@pytest.mark.parametrize("name", TEKKENS)
def test_made_tekken(tmp_path, formats, name):
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(TEKKENS[name]))
    error = formats.open("tekken", path)
    (answer,) = ask(path, [("v", 0, b"")], "")
    assert isinstance(answer, Error) == (error is not None), (error, answer)
    if error is None:
        texts = random_texts(["<s>", "[X]", "abc", "cab", "é", "日"], 60, 6)
        offsets = name != "pattern with gaps"  # tiktoken's leave the gaps out
        compare_encode(formats, path, "", texts, offsets=offsets)
        compare_encode(formats, path, "", texts[:20], bos=True, offsets=offsets)
        compare_decode(formats, path, "", random_lists(formats, texts, 705))


@pytest.mark.parametrize("document, message", [
    (TEKKENS["wrong place"], "vocab[300].rank: is not the entry's place"),
    (TEKKENS["v11 without specials"], "special_tokens: missing, which version v11 does not allow"),
    (TEKKENS["twice the same"], "special_tokens: '<unk>' is there twice"),
    (TEKKENS["version v4"], 'config.version: unknown version "v4"'),
    (tekken(specials=("<unk>", "<s>", "</s>"), pattern="a$"),
     "config.pattern: unsupported in a pattern of tekken: an anchor"),
    (tekken(pattern="[a-z&&[^b]]"), "config.pattern: unsupported in a pattern of tekken: && in a class"),
    (tekken(pattern="a++"), "config.pattern: unsupported in a pattern of tekken: repetition of a repetition"),
    (changed(lambda d: d["special_tokens"][1].update(rank=7)), "special_tokens[1].rank: is not the token's place"),
])
def test_refused_tekken(tmp_path, document, message):
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(document))
    (answer,) = ask(path, [("v", 0, b"")], "")
    assert isinstance(answer, Error) and message in answer
