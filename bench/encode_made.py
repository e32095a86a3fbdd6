#!/usr/bin/env python3
"""Tokenizers for bench/encode.py of kinds that no registry has a file of: as BERT's and as T5's.

    encode_made.py wordpiece|unigram TOKENIZER.JSON

The trainers of tokenizers learn 30,000 entries from the sources of Python's standard library."""
import sys
import sysconfig
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ENTRIES, CORPUS = 30000, 8 << 20  # characters


def sources():
    left = CORPUS
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if left <= 0 or "site-packages" in path.parts:
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        left -= len(text)
        yield text


def wordpiece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, trainers.WordPieceTrainer(
        vocab_size=ENTRIES, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False)


def unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, trainers.UnigramTrainer(
        vocab_size=ENTRIES, special_tokens=["<unk>", "</s>"], unk_token="<unk>",
        show_progress=False)


def main():
    kind, path = sys.argv[1], Path(sys.argv[2])
    tokenizer, trainer = {"wordpiece": wordpiece, "unigram": unigram}[kind]()
    tokenizer.train_from_iterator(sources(), trainer)
    path.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(path))


if __name__ == "__main__":
    main()
