#!/usr/bin/env python3
"""Fetches real vocabulary files of other formats than tokenizer.json, beside those of models.py.

Each package is pinned by version and SHA-256 of its archive; a folder appears at once and complete.
tiktoken's npm package holds its ranks in a form of its own: they are written out as the files of
tiktoken, whose SHA-256 is the one that tiktoken itself demands. Families with code of their own
(Llama, Qwen) come with it, as the reference of the tests."""
import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from models import ATTEMPTS, FetchError, digest, models_folder

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


def download(how, package, folder):
    command = (["npm", "pack", "--silent", package] if how == "npm" else
               [sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                "--disable-pip-version-check", "-d", ".", package])
    for attempt in range(1, ATTEMPTS + 1):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        archives = [p for p in Path(folder).iterdir() if p.suffix in (".tgz", ".whl")]
        if done.returncode == 0 and len(archives) == 1:
            return archives[0]
        for archive in archives:
            archive.unlink()
        print(f"vocabularies: {package} failed (attempt {attempt} of {ATTEMPTS})", file=sys.stderr)
    raise FetchError(f"{package} failed:\n{done.stderr.strip()}")


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
    target = folder / name
    mark = f"{package} sha256:{sha}\n"
    source = target / "SOURCE"
    if source.is_file() and source.read_text() == mark:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}-") as scratch:
        archive = download(how, package, scratch)
        found = digest(archive)
        if found != sha:
            raise FetchError(f"{name}: the archive's SHA-256 is {found}, pinned {sha}")
        fresh = Path(scratch) / name
        fresh.mkdir()
        if members is None:
            write_ranks(archive, fresh)
        else:
            unpack(archive, members, fresh)
        (fresh / "SOURCE").write_text(mark)
        if target.exists():
            target.rename(Path(scratch) / "old")
        fresh.rename(target)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    folder = models_folder()
    failed = 0
    for name in SOURCES:
        try:
            fetched = fetch(name, folder)
        except (FetchError, OSError, KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
            print(f"vocabularies: {error}", file=sys.stderr)
            failed = 1
            continue
        print(f"vocabularies: {name}: {'fetched' if fetched else 'already there'}: {folder / name}",
              flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
