"""Writes SentencePiece character maps, as tokenizer.json's Precompiled normalizer holds them: the
length of a double array, the array, and the replacements, each ended by a zero byte."""
import base64
import struct


def trie(keys):
    """Nested dicts by byte; the value of a key is under None."""
    root = {}
    for key, value in keys.items():
        node = root
        for byte in key:
            node = node.setdefault(byte, {})
        node[None] = value
    return root


def double_array(keys):
    """The units of a double array from bytes to numbers. Children of a node lie at its base xor
    their byte; a unit tells how to get from its place to its base."""
    units, used, first_free = {0: 0}, {0}, 1
    todo = [(0, trie(keys))]
    while todo:
        place, node = todo.pop()
        labels = [0 if label is None else label for label in node]
        if not labels:
            continue
        base = first_free
        while base == 0 or any((base ^ label) in used for label in labels):
            base += 1
        while first_free in used:
            first_free += 1
        offset = place ^ base
        assert offset < 1 << 21
        units[place] |= offset << 10
        for label, child in node.items():
            at = base ^ (label or 0)
            used.add(at)
            if label is None:
                units[place] |= 1 << 8
                units[at] = child | 1 << 31
            else:
                units[at] = label
                todo.append((at, child))
    size = (max(units) | 255) + 1
    return [units.get(i, 0) for i in range(size)]


def charsmap(replacements):
    """Bytes of a map from keys (text or bytes without zero bytes) to texts."""
    blob, keys = b"", {}
    for key, text in replacements.items():
        keys[key.encode() if isinstance(key, str) else key] = len(blob)
        blob += text.encode() + b"\0"
    units = double_array(keys)
    return struct.pack("<%dI" % (len(units) + 1), 4 * len(units), *units) + blob


def precompiled(replacements):
    """The normalizer, as tokenizer.json has it."""
    return {"type": "Precompiled",
            "precompiled_charsmap": base64.b64encode(charsmap(replacements)).decode()}
