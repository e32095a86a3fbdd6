#!/usr/bin/env python3
"""Fetches real vocabulary files of other formats than tokenizer.json, beside those of models.py.

Each package is pinned by version and SHA-256 of its archive; a folder appears at once and complete.
tiktoken's npm package holds its ranks in a form of its own: they are written out as the files of
tiktoken, whose SHA-256 is the one that tiktoken itself demands. Families with code of their own
(Llama, Qwen) come with it, as the reference of the tests."""
import argparse
import hashlib
import json
import sys
import tarfile
import zipfile

from models import FetchError, fetch_all, fetch_package, models_folder

RANKS = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
# folder: (how, package, SHA-256 of the archive, what is kept of it)
SOURCES = {
    "tiktoken": ("npm", "tiktoken@1.0.22",
                 "55c339e756fdb17604f7c7e3eb35d2bcbffe4d960e8096e50285d1cefa51dd90", None),
    "llama_models": ("pip", "llama-models==0.3.0",
                     "7f77f78ff13fca09f70d76a376aff6414cd901623fb9d57e69c2f8367a73032f",
                     ["llama_models/llama3/tokenizer.model", "llama_models/llama3/tokenizer.py",
                      "llama_models/llama4/tokenizer.model", "llama_models/llama4/tokenizer.py",
                      "llama_models/tokenizer_utils.py"]),
    "dashscope": ("pip", "dashscope==2.0.2",
                  "0602d1800f7433bdb7953560986eaf5146454ed3988636c0a91963ba24e74258",
                  ["dashscope/resources/qwen.tiktoken", "dashscope/tokenizers/qwen_tokenizer.py",
                   "dashscope/tokenizers/tokenizer_base.py"]),
}


def write_ranks(archive, target):
    """Lines of "token rank" from "! FIRST token token ..."."""
    with tarfile.open(archive) as tar:
        for name, want in RANKS.items():
            with tar.extractfile(f"package/encoders/{name}.json") as source:
                ranks = json.load(source)["bpe_ranks"]
            out = []
            for line in ranks.split("\n"):
                _, first, *tokens = line.split(" ")
                out += [f"{token} {rank}\n" for rank, token in enumerate(tokens, int(first))]
            data = "".join(out).encode()
            if hashlib.sha256(data).hexdigest() != want:
                raise FetchError(f"{name}: the ranks are not tiktoken's")
            (target / f"{name}.tiktoken").write_bytes(data)


def unpack(archive, members, target):
    with zipfile.ZipFile(archive) as wheel:
        for name in members:
            path = target / name.partition("/")[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wheel.read(name))


def fetch(name, folder):
    """True if the files had to be fetched."""
    how, package, sha, members = SOURCES[name]

    def put(archive, target):
        if members is None:
            write_ranks(archive, target)
        else:
            unpack(archive, members, target)
    return fetch_package(folder / name, how, package, sha, put)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    return 1 if fetch_all("vocabularies", SOURCES, fetch, models_folder()) else 0


if __name__ == "__main__":
    sys.exit(main())
