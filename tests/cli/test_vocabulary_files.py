"""The program on vocabulary files of other formats than tokenizer.json."""
import base64
import json
import struct

import pytest

TOKENS = [bytes([b]) for b in range(256)] + [b"he", b"ll", b"hell", b"hello", b" w"]


def field(number, wire, payload):
    head = bytes([number << 3 | wire])
    if wire == 0:
        return head + bytes([payload])
    return head + (struct.pack("<f", payload) if wire == 5 else bytes([len(payload)]) + payload)


def piece(text, kind, score=0.0):
    return field(1, 2, field(1, 2, text.encode()) + field(2, 5, score) + field(3, 0, kind))


@pytest.fixture
def ranks(tmp_path):
    path = tmp_path / "some.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(t) + b" %d\n" % i for i, t in enumerate(TOKENS)))
    return path


@pytest.fixture
def tekken(tmp_path):
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps({
        "config": {"pattern": "\\p{L}+|[^\\p{L}]", "num_vocab_tokens": len(TOKENS), "version": "v13",
                   "default_vocab_size": len(TOKENS) + 3, "default_num_special_tokens": 3},
        "vocab": [{"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
                  for i, t in enumerate(TOKENS)],
        "special_tokens": [{"rank": i, "token_str": s, "is_control": True}
                           for i, s in enumerate(["<unk>", "<s>", "</s>"])]}))
    return path


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "small.model"
    pieces = [("<unk>", 2), ("<s>", 3), ("</s>", 3), ("\u2581", 1), ("a", 1), ("b", 1), ("ab", 1), ("<u>", 4)]
    path.write_bytes(b"".join(piece(t, k, -i) for i, (t, k) in enumerate(pieces)) +
                     field(2, 2, field(3, 0, 2)))
    return path


def encode(run, *options):
    done = run("encode", "--text", *options)
    return done.results[0]["ids"] if done.status == 0 else done.err


def test_ranks(run, ranks):
    assert encode(run, "hello w", "-m", ranks, "--encoding", "cl100k_base") == [259, 260]
    assert encode(run, "<|endoftext|>", "-m", ranks, "--encoding", "cl100k_base") == [100257]
    assert "261 ranks is of no known family" in encode(run, "x", "-m", ranks)
    assert "unknown encoding" in encode(run, "x", "-m", ranks, "--encoding", "nope")
    done = run("decode", "-m", ranks, "--encoding", "r50k_base", stdin='{"ids": [259, 50256, 195]}\n{"ids": [999]}\n')
    assert done.status == 1 and done.results[0]["text"] == "hello<|endoftext|>\ufffd"
    assert "999 is not in the vocabulary" in done.results[1]["error"]["message"]


def test_encoding_is_for_ranks(run, tekken, model, tmp_path):
    for name in (tekken, model, tmp_path):
        assert "for files of tiktoken ranks only" in encode(run, "x", "-m", name, "--encoding", "qwen")
    assert "for files of tiktoken ranks only" in encode(run, "x", "--encoding", "qwen")


def test_tekken(run, tekken):
    assert encode(run, "hello<s>", "-m", tekken) == [262, 63, 118, 65]
    assert encode(run, "hello", "-m", tekken, "--add-special-tokens") == [1, 262]
    done = run("decode", "-m", tekken, "--skip-special-tokens", "--plain", stdin='{"ids": [1, 262, 2]}\n')
    assert done.out == "hello\n"


def test_sentencepiece(run, model):
    assert encode(run, "ab<u>a", "-m", model) == [3, 6, 7, 4]
    assert encode(run, "ab", "-m", model, "--add-special-tokens") == [1, 3, 6]
    assert encode(run, "xyz", "-m", model) == [3, 0]
    done = run("decode", "-m", model, "--plain", stdin='{"ids": [3, 6, 0, 7]}\n')
    assert done.out == "ab \u2047 <u>\n"


def test_info(run, ranks, tekken, model):
    def told(*options):
        return json.loads(run("info", "--json", *options).out)["tokenizer"]
    told_ranks = told("-m", ranks, "--encoding", "llama3")
    assert (told_ranks["format"], told_ranks["family"], told_ranks["scanner"]) == ("tiktoken", "llama3", "cl100k")
    assert told("-m", tekken)["format"] == "tekken" and told("-m", tekken)["scanner"] == "general"
    assert told("-m", model)["format"] == "sentencepiece" and told("-m", model)["model"]["type"] == "BPE"


def test_place_of_errors(run, ranks, tekken, model):
    ranks.write_bytes(ranks.read_bytes() + b"!\n")
    assert f"{ranks}:262: tokenizer: line 262: expected a token" in encode(run, "x", "-m", ranks)
    tekken.write_text(tekken.read_text().replace('"rank": 7,', '"rank": 9,', 1))
    assert "vocab[7].rank: is not the entry's place" in encode(run, "x", "-m", tekken)
    model.write_bytes(model.read_bytes()[:-1])
    message = encode(run, "x", "-m", model)
    assert f"{model}: tokenizer: SentencePiece model, byte " in message and message.count("\n") == 1
