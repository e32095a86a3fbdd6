#!/usr/bin/env python3
"""External tokenizer for tokdrain: counts, renders, encodes and decodes with transformers'
AutoTokenizer, whatever it loads.

    tokdrain count -m MODEL --worker-command "python3 tokdrain_worker.py --trust-remote-code" FILE

For classes that tokdrain cannot read: slow tokenizers, and classes whose Python code comes with the
model (which runs only with --trust-remote-code). Needs transformers and nothing else. The protocol
is that of docs/workers.md: frames of MessagePack over the socket at descriptor 3."""
import argparse
import copy
import hashlib
import json
import os
import socket
import struct
import sys

PROTOCOL = 1
FD = 3


# ---- MessagePack, as far as the protocol uses it ----

class Reader:
    """One value after the other from bytes."""

    SIZES = {0xc4: "B", 0xc5: ">H", 0xc6: ">I", 0xd9: "B", 0xda: ">H", 0xdb: ">I", 0xde: ">H",
             0xdf: ">I"}
    NUMBERS = {0xcc: "B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q", 0xd0: "b", 0xd1: ">h", 0xd2: ">i",
               0xd3: ">q"}

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        piece = self.data[self.at:self.at + count]
        if len(piece) != count:
            raise ValueError("a frame is cut short")
        self.at += count
        return piece

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def map(self, count):
        return {self.value(): self.value() for _ in range(count)}

    def value(self):
        first = self.take(1)[0]
        if first < 0x80:
            return first
        if first < 0x90:
            return self.map(first & 15)
        if 0xa0 <= first < 0xc0:
            return self.take(first & 31).decode()
        if first >= 0xe0:
            return first - 256
        if first in (0xc0, 0xc2, 0xc3):
            return {0xc0: None, 0xc2: False, 0xc3: True}[first]
        if first in self.NUMBERS:
            return self.number(self.NUMBERS[first])
        if first not in self.SIZES:
            raise ValueError(f"unexpected byte {first:#x}")
        size = self.number(self.SIZES[first])
        if first >= 0xde:
            return self.map(size)
        piece = self.take(size)
        return piece if first < 0xd9 else piece.decode()


def pack(value):
    """Maps of texts to texts, bytes, numbers from 0 up and maps."""
    if isinstance(value, dict):
        return struct.pack("B", 0x80 | len(value)) + b"".join(
            pack(k) + pack(v) for k, v in value.items())
    if isinstance(value, str):
        text = value.encode("utf-8", "replace")
        return struct.pack(">BI", 0xdb, len(text)) + text
    if isinstance(value, bytes):
        return struct.pack(">BI", 0xc6, len(value)) + value
    return struct.pack(">BQ", 0xcf, value)


def read_exactly(connection, count):
    """That many bytes; None when the other side is closed."""
    parts = []
    while count:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def receive(connection):
    head = read_exactly(connection, 4)
    body = head and read_exactly(connection, struct.unpack(">I", head)[0])
    return None if body is None else Reader(body).value()


def send(connection, answer):
    body = pack(answer)
    connection.sendall(struct.pack(">I", len(body)) + body)


# ---- the work ----

class Failure(Exception):
    """What is wrong with one item."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def text_of(data):
    return data.decode("utf-8", "surrogatepass")


def pack_ids(ids):
    return struct.pack(f">{len(ids)}I", *ids)


def unpack_ids(data):
    return list(struct.unpack(f">{len(data) // 4}I", data))


def parse_calls(messages):
    """The same messages; arguments of tool calls that are the text of an object become it."""
    messages = copy.deepcopy(messages)
    for message in messages:
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("arguments"), str):
                try:
                    parsed = json.loads(function["arguments"])
                except ValueError:
                    continue
                if isinstance(parsed, dict):
                    function["arguments"] = parsed
    return messages


class Worker:
    PARAMETERS = ("tools", "documents", "chat_template", "add_generation_prompt",
                  "continue_final_message", "sanitize_control_tokens")

    def __init__(self, tokenizer, hello):
        self.tokenizer = tokenizer
        self.template = hello["chat_template"] and text_of(hello["chat_template"])
        kwargs = hello["chat_template_kwargs"]
        self.kwargs = json.loads(text_of(kwargs)) if kwargs else {}
        self.parse_arguments = hello["parse_arguments"]

    def identity(self):
        """Equal for equal tokenizers, so that counts of two models cannot mix."""
        t = self.tokenizer
        mark = hashlib.sha256()
        try:
            vocabulary = sorted(t.get_vocab().items(), key=str)
        except Exception:  # noqa: BLE001 - not every class has one
            vocabulary = len(t)
        for part in (vocabulary, t.special_tokens_map, t.chat_template):
            mark.update(repr(part).encode("utf-8", "surrogatepass"))
        return f"{type(t).__name__} {t.name_or_path} {mark.hexdigest()[:16]}"

    def arguments(self, request):
        """Keywords of apply_chat_template: the request's own win."""
        keywords = {**self.kwargs, **(request.get("chat_template_kwargs") or {})}
        out = {}
        for name in self.PARAMETERS:
            inner = keywords.pop(name, None)
            value = request.get(name)
            value = inner if value is None else value
            if value is not None:
                out[name] = value
        keywords.pop("return_assistant_tokens_mask", None)
        if "chat_template" not in out and self.template is not None:
            out["chat_template"] = self.template
        if request.get("tool_choice") is not None:
            keywords["tool_choice"] = request["tool_choice"]
        return keywords, out

    def rendered(self, messages, keywords, tokenize=True):
        """The ids of the rendered messages, or their text."""
        if not messages:
            raise Failure("input", "there are no messages: at least one is needed")
        try:
            return self.tokenizer.apply_chat_template(
                copy.deepcopy(messages), tokenize=tokenize, return_dict=False, **keywords)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a class raises is the item's
            try:
                self.tokenizer.apply_chat_template(copy.deepcopy(messages), tokenize=False,
                                                   **keywords)
                kind = "tokenizer"
            except Exception:  # noqa: BLE001
                kind = "template"
            raise Failure(kind, f"{type(error).__name__}: {error}") from error

    def messages(self, request, tokenize=True):
        keywords, own = self.arguments(request)
        own.setdefault("add_generation_prompt", not own.get("continue_final_message"))
        messages = request["messages"]
        parse = request.get("parse_arguments")
        if self.parse_arguments if parse is None else parse:
            messages = parse_calls(messages)
        return self.rendered(messages, {**keywords, **own}, tokenize)

    def count_message(self, request):
        """What one assistant message adds to a conversation."""
        message = request["message"]
        keywords, own = self.arguments(request)
        keywords.update(add_generation_prompt=False, continue_final_message=False)
        if "chat_template" in own:
            keywords["chat_template"] = own["chat_template"]
        content = message.get("content")
        turn = {"role": "assistant", "content": "" if content is None else content}
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        if reasoning:
            turn["reasoning_content"] = reasoning
        if message.get("tool_calls"):
            turn["tool_calls"] = message["tool_calls"]
        user = {"role": "user", "content": ""}
        whole = len(self.rendered(parse_calls([user, turn]), keywords))
        try:
            empty = len(self.rendered([user, {"role": "assistant", "content": ""}], keywords))
        except Failure:
            empty = 0
        return max(whole - empty, 0)

    def from_tokenizer(self, call, *args, **keywords):
        try:
            return call(*args, **keywords)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001
            raise Failure("tokenizer", f"{type(error).__name__}: {error}") from error

    def ids(self, item):
        if item["via"] == "text":
            return self.from_tokenizer(self.tokenizer, text_of(item["text"]),
                                       add_special_tokens=item["add_special_tokens"])["input_ids"]
        return self.messages(json.loads(text_of(item["request"])))

    def answer(self, item):
        do = item.get("do", "count")
        if do == "decode":
            text = self.from_tokenizer(self.tokenizer.decode, unpack_ids(item["ids"]),
                                       skip_special_tokens=item["skip_special_tokens"])
            return {"text": text.encode("utf-8", "surrogatepass")}
        if do == "render":
            text = self.messages(json.loads(text_of(item["request"])), tokenize=False)
            return {"text": text.encode("utf-8", "surrogatepass")}
        if do == "encode":
            return {"ids": pack_ids(self.ids(item))}
        if item["via"] == "message":
            return {"tokens": self.count_message(json.loads(text_of(item["request"])))}
        return {"tokens": len(self.ids(item))}


# ---- the loop ----

def load(options, hello):
    from transformers import AutoTokenizer  # takes long: after the socket is there
    if hello["model"] is None:
        raise ValueError("no model was given (tokdrain -m MODEL)")
    keywords = {"revision": text_of(hello["revision"])} if hello["revision"] else {}
    return Worker(AutoTokenizer.from_pretrained(
        text_of(hello["model"]), trust_remote_code=options.trust_remote_code,
        use_fast=not options.slow, **keywords), hello)


def serve(connection, options):
    hello = receive(connection)
    if hello is None:
        return
    try:
        if hello["protocol"] != PROTOCOL:
            raise ValueError(f"version {hello['protocol']} of the protocol is not known")
        worker = load(options, hello)
        send(connection, {"protocol": PROTOCOL, "model": worker.identity()})
    except Exception as error:  # noqa: BLE001 - the other side tells it
        send(connection, {"protocol": PROTOCOL, "error": {
            "kind": "worker", "message": f"{type(error).__name__}: {error}"}})
        return
    while (item := receive(connection)) is not None:
        try:
            answer = worker.answer(item)
        except MemoryError:
            raise  # a new process has more
        except Exception as error:  # noqa: BLE001 - an error of this item, and no reason to go
            answer = {"error": {"kind": getattr(error, "kind", "worker"), "message": str(error)}}
        send(connection, {"seq": item["seq"], **answer})


def main():
    parser = argparse.ArgumentParser(description="External tokenizer for tokdrain (transformers).")
    parser.add_argument("--trust-remote-code", action="store_true",
                        help="run Python code that comes with the model")
    parser.add_argument("--slow", action="store_true", help="the class in Python, not the fast one")
    options = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        connection = socket.socket(fileno=FD)
    except OSError:
        sys.exit("tokdrain_worker: descriptor 3 is no socket: start it with tokdrain's "
                 "--worker-command")
    try:
        serve(connection, options)
    except (BrokenPipeError, ConnectionResetError):
        pass  # tokdrain went first


if __name__ == "__main__":
    main()
