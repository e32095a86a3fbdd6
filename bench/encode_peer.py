#!/usr/bin/env python3
"""One measurement of another tokenizer library, in a process of its own (see bench/encode.py).

    encode_peer.py NAME TOKENIZER.JSON TEXT DOC_BYTES PASSES DATA_DIR

Prints the same line of JSON as bench_encode; only the calls are timed, in CPU seconds of all
threads. Each library is used through the call that is fastest for
one document on one thread. Ids that the library puts around every text are taken off before
comparing."""
import contextlib
import json
import os
import sys
import time
import zlib
from array import array

GROUP = 1 << 16  # bytes
os.environ.update(RAYON_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")


def gigatoken(path, _):
    from gigatoken import Tokenizer
    encode = Tokenizer(path).encode
    return encode, lambda ids: ids.tobytes()


def batch_flat(tokenizer):
    encode = tokenizer.encode_batch_flat
    return lambda text: encode([text])[0], bytes


def fastokens(path, _):
    from fastokens._native import Tokenizer
    return batch_flat(Tokenizer.from_file(path))


def snaptokens(path, _):
    from snaptokens._native import Tokenizer
    return batch_flat(Tokenizer.from_file(path))


def splintr(path, _):
    from splintr import from_json
    encode = from_json(path).encode_flat
    around = len(encode("")) // 4
    return encode, lambda ids: bytes(ids)[4 * around:]


def of_list(ids):
    return array("I", ids).tobytes()


def import_quicktok(path, data):
    """Once for each model, not timed: a form of the tokenizer of quicktok's own."""
    os.environ["QUICKTOK_DATA"] = data
    name = os.path.basename(os.path.dirname(path))
    if not os.path.exists(os.path.join(data, name + ".enc")):
        import quicktok as q
        os.makedirs(data, exist_ok=True)
        with contextlib.redirect_stdout(sys.stderr):
            q.import_tokenizer(path, name, data_dir=data)


def quicktok(path, _):
    from quicktok import get_encoding
    return get_encoding(os.path.basename(os.path.dirname(path))).encode_with_special, of_list


def quicktok_count(path, data):
    encode, _ = quicktok(path, data)
    return encode.__self__.count, int


def tiktoken(path, _):
    import tiktoken as t
    with open(path, encoding="utf-8") as f:
        spec = json.load(f)
    if spec["normalizer"] is not None:
        raise ValueError("tiktoken does not normalize")
    split = [p for p in spec["pre_tokenizer"]["pretokenizers"] if p["type"] == "Split"]
    if len(split) != 1:
        raise ValueError("tiktoken has one pattern")
    chars = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    others = [b for b in range(256) if b not in chars]
    of_char = {chr(b): b for b in chars} | {chr(256 + i): b for i, b in enumerate(others)}
    ranks = {bytes(of_char[c] for c in token): i for token, i in spec["model"]["vocab"].items()}
    special = {a["content"]: a["id"] for a in spec["added_tokens"]}
    encoding = t.Encoding(name="bench", pat_str=split[0]["pattern"]["Regex"],
                          mergeable_ranks=ranks, special_tokens=special)
    encode = encoding.encode_to_numpy
    return lambda text: encode(text, allowed_special="all"), lambda ids: ids.tobytes()


def tokenizers(path, _):
    from tokenizers import Tokenizer
    encode = Tokenizer.from_file(path).encode_batch_fast
    return (lambda text: encode([text], add_special_tokens=False)[0],
            lambda encoding: of_list(encoding.ids))


def documents(path, size):
    with open(path, "rb") as f:
        data = f.read()
    at, out = 0, []
    while at < len(data):
        end = min(at + size, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        out.append(data[at:end].decode())
        at = end
    return out


def peak():
    """The most memory that was ever resident, in KB (ru_maxrss has the parent's, too)."""
    with open("/proc/self/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))


def cost_of_clock():
    """What a look at the clock takes, which between two looks is once."""
    now = time.process_time
    return min(-now() + now() for _ in range(1000))


def groups(texts, size):
    """Documents that are timed together: a look at the clock around each short one would disturb
    what it measures."""
    step = max(1, GROUP // size)
    return [texts[i:i + step] for i in range(0, len(texts), step)]


def timed(encode, groups_of_texts, check):
    """check: ids to bytes; int for calls that only count; None: not looked at."""
    now, crc, count = time.process_time, 0, 0
    total = -cost_of_clock() * len(groups_of_texts)
    for texts in groups_of_texts:
        start = now()
        results = [encode(text) for text in texts]
        total += now() - start
        for ids in results if check else ():
            if check is int:
                count += ids
            else:
                data = check(ids)
                count += len(data) // 4
                crc = zlib.crc32(data, crc)
    return total, crc, count


def main():
    name, path, text, size, passes, data = sys.argv[1:7]
    texts = groups(documents(text, int(size)), int(size))
    if name.startswith("quicktok"):
        import_quicktok(path, data)
    before, start = peak(), time.process_time()
    encode, to_bytes = globals()[name](path, data)
    load = time.process_time() - start
    start = time.process_time()
    encode("hello")
    first = time.process_time() - start
    loaded = peak()
    cold, crc, count = timed(encode, texts, to_bytes)
    warm = [timed(encode, texts, None)[0] for _ in range(int(passes))]
    print(json.dumps({"load_s": load, "first_s": first, "cold_s": cold, "warm_s": warm,
                      "ids": count, "crc": crc, "loaded_kb": loaded - before,
                      "peak_kb": peak() - before}))


if __name__ == "__main__":
    main()
