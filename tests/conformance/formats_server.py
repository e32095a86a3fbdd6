"""Answers for the libraries of other vocabulary formats: JSON lines in, JSON lines out.

Runs in an environment of its own (tests/requirements_formats.txt), as a child of the tests.
{"op": "open", "kind": ..., "path": ..., "encoding": ...} loads a file; then
{"op": "encode", "texts": [...], "special": find special tokens, "bos": with the first token}
{"op": "decode", "lists": [[ids], ...], "skip": without special tokens}
give {"results": [...]}, an item of which is {"error": text} where the library raises. "mistral"
gives the folder of mistral-common's own files, "train" makes a SentencePiece model, "tokens" tells
class, named tokens and size of what "auto" opened."""
import importlib
import json
import sys
import types
from pathlib import Path


class Tiktoken:
    """Encodings of tiktoken itself, its files read from disk."""
    def __init__(self, path, encoding):
        import tiktoken
        import tiktoken.load
        from tiktoken_ext import openai_public
        read = tiktoken.load.load_tiktoken_bpe
        openai_public.load_tiktoken_bpe = lambda *_, **__: read(path)
        self.enc = tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[encoding]())

    def encode(self, text, special, bos):
        if bos:
            raise ValueError("no first token")
        allowed = "all" if special else set()
        ids = self.enc.encode(text, allowed_special=allowed, disallowed_special=())
        return {"ids": ids, "starts": self.enc.decode_with_offsets(ids)[1]}

    def decode(self, ids, skip):
        if skip:
            ids = [i for i in ids if i not in self.enc._special_tokens.values()]
        return self.enc.decode(ids)


def load_class(folder, name):
    """Module:Class of a package that is not installed, from its files alone."""
    module, _, cls = name.partition(":")
    package = sys.modules["family"] = types.ModuleType("family")
    package.__path__ = [folder]
    for path in Path(folder).iterdir():
        if path.is_dir():  # without what its __init__ would pull in
            inner = sys.modules[f"family.{path.name}"] = types.ModuleType(f"family.{path.name}")
            inner.__path__ = [str(path)]
    return getattr(importlib.import_module(f"family.{module}"), cls)


class Llama(Tiktoken):
    """What Meta's own class makes of tiktoken; encoding is a folder and a name in it."""
    def __init__(self, path, encoding):
        self.tokenizer = load_class(*encoding)(Path(path))
        self.enc = self.tokenizer.model

    def encode(self, text, special, bos):
        if not bos:
            return super().encode(text, special, bos)
        allowed = "all" if special else set()
        return {"ids": self.tokenizer.encode(text, bos=True, eos=False, allowed_special=allowed)}


class Qwen(Tiktoken):
    """What Qwen's own class makes of it."""
    def __init__(self, path, encoding):
        self.tokenizer = load_class(*encoding)(path)
        self.enc = self.tokenizer._tokenizer

    def encode(self, text, special, bos):
        allowed = "all" if special else set()
        return {"ids": self.tokenizer.encode(text, allowed_special=allowed, disallowed_special=())}


class Tekken:
    """Mistral's; it never finds special tokens in texts."""
    def __init__(self, path, _):
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer
        self.tok = Tekkenizer.from_file(path)

    def encode(self, text, _, bos):
        ids = self.tok.encode(text, bos=bos, eos=False)
        inner = [i - self.tok.num_special_tokens for i in ids[bos:]]
        return {"ids": ids, "starts": [0] * bos + self.tok._model.decode_with_offsets(inner)[1]}

    def decode(self, ids, skip):
        return self.tok.decode(ids, special_token_policy="ignore" if skip else "keep")


class SentencePiece:
    def __init__(self, path, _):
        import sentencepiece
        self.sp = sentencepiece.SentencePieceProcessor(model_file=path)

    def encode(self, text, _, bos):
        ids = self.sp.encode(text, add_bos=bos and self.sp.bos_id() >= 0)
        pieces = self.sp.encode(text, return_type="proto").pieces
        return {"ids": ids, "bytes": [[p.begin, p.end] for p in pieces]}

    def decode(self, ids, _):
        return self.sp.decode(ids)


def train(path, sentences, options, changes):
    """A model made by SentencePiece's own trainer, then changed: scores rounded, pieces of some
    place with another type, fields of the three specifications set."""
    import io
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_writer=out,
                                             minloglevel=2, num_threads=1, **options)
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(out.getvalue())
    step = changes.get("round")
    for i, piece in enumerate(model.pieces):
        if step:
            piece.score = round(piece.score / step) * step
        for places, kind in changes.get("types", []):
            if piece.type == 1 and i % places == 0:
                piece.type = kind
    for name in ("trainer_spec", "normalizer_spec", "denormalizer_spec"):
        for key, value in changes.get(name, {}).items():
            if key == "precompiled_charsmap" and value == "copy":
                value = model.normalizer_spec.precompiled_charsmap
            setattr(getattr(model, name), key, value)
    for text, score, kind in changes.get("more", []):
        model.pieces.add(piece=text, score=score, type=kind)
    Path(path).write_bytes(model.SerializeToString())
    return {"pieces": len(model.pieces)}


def mistral_data():
    from importlib.resources import files
    return str(files("mistral_common") / "data")


class Auto:
    """AutoTokenizer of a directory, as it is where tiktoken is installed and mistral-common is
    not."""
    def __init__(self, path, _):
        import os
        os.environ["HF_HUB_OFFLINE"] = "1"
        from transformers import AutoTokenizer
        from transformers.utils import import_utils
        import_utils.is_mistral_common_available = lambda: False
        for module in list(sys.modules.values()):
            if getattr(module, "is_mistral_common_available", None) is not None:
                module.is_mistral_common_available = lambda: False
        self.tok = AutoTokenizer.from_pretrained(path)

    def encode(self, text, _, bos):
        return {"ids": self.tok(text, add_special_tokens=bos)["input_ids"]}

    def decode(self, ids, skip):
        return self.tok.decode(ids, skip_special_tokens=skip)

    def tokens(self):
        if not self.tok.is_fast:
            raise ValueError("not a class over the tokenizers library")
        return {"class": type(self.tok).__name__, "named": list(self.tok.special_tokens_map.items()),
                "size": len(self.tok)}


KINDS = {"auto": Auto, "tiktoken": Tiktoken, "llama": Llama, "qwen": Qwen, "tekken": Tekken, "sentencepiece": SentencePiece}


def guarded(function, *args):
    try:
        return function(*args)
    except BaseException as error:  # tiktoken panics where it cannot encode
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    out = sys.stdout
    sys.stdout = sys.stderr  # nothing but answers goes out
    library = None
    for line in sys.stdin:
        r = json.loads(line)
        if r["op"] == "open":
            library = guarded(KINDS[r["kind"]], r["path"], r.get("encoding"))
            answer = library if isinstance(library, dict) else {"ok": True}
        elif r["op"] == "train":
            answer = guarded(train, r["path"], r["sentences"], r["options"], r["changes"])
        elif r["op"] == "tokens":
            answer = guarded(library.tokens)
        elif r["op"] == "mistral":
            answer = {"folder": guarded(mistral_data)}
        elif r["op"] == "encode":
            answer = {"results": [guarded(library.encode, t, r["special"], r["bos"])
                                  for t in r["texts"]]}
        else:
            answer = {"results": [guarded(library.decode, i, r["skip"]) for i in r["lists"]]}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
