"""apply_chat_template and count beside transformers: values, types and errors."""
import copy
import dataclasses
import datetime
import enum
from collections import OrderedDict, UserDict

import pytest

import reference_clock
from conversations import conversations
from sameness import attempt, same

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
TEMPLATES = ["qwen3-qwen3-trl", "llama3-llama3_1-trl", "gptoss-gptoss-trl"]
MODELS = ["default", "qwen3", "llama3_1", "gptoss"]
HI = [{"role": "user", "content": "How many tokens is this?"}]
NOW = datetime.datetime(2026, 3, 4, 5, 6, 7)
TWO = [*HI, {"role": "assistant", "content": "Seven."}]
MASKED = ("{% for m in messages %}{% if m.role == 'assistant' %}a: {% generation %}{{ m.content }}"
          "<|im_end|>{% endgeneration %}{% else %}u: {{ m.content }}{% endif %}\n{% endfor %}")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("template", [None, *TEMPLATES])
def test_conversations(name, template, load, request, monkeypatch):
    model, tokenizer = load(name)
    model = model.with_options(now=NOW)
    reference_clock.fix(monkeypatch, NOW)
    if template is not None:
        folder = request.getfixturevalue("template_dir")
        template = (folder / f"{template}.jinja").read_text()
    good = 0
    for _, arguments in conversations():
        arguments = copy.deepcopy(arguments)
        messages = arguments.pop("messages")
        if template is not None:
            arguments.setdefault("chat_template", template)
        for more in ({"tokenize": False}, {"return_dict": False}, {}):
            both = {**arguments, **more}
            want = attempt(lambda: tokenizer.apply_chat_template(copy.deepcopy(messages), **both))
            same(attempt(lambda: model.apply_chat_template(messages, **both)), want)
        good += not isinstance(want, Exception)
        if not isinstance(want, Exception):
            both = {"add_generation_prompt": False, **arguments}
            assert model.count(messages, **both) == len(want["input_ids"])
    assert good > 20 or template is None and tokenizer.chat_template is None


@pytest.mark.parametrize("arguments", [
    {"padding": True}, {"padding": "longest", "tokenizer_kwargs": {"pad_to_multiple_of": 8}},
    {"padding": "max_length", "max_length": 40}, {"truncation": True, "max_length": 9},
    {"padding": True, "return_tensors": "np"}, {"padding": True, "truncation": True,
                                                "max_length": 12, "return_tensors": "np"},
    {"return_tensors": "np"}, {"padding": "nonsense"}, {"truncation": "nonsense"}, {},
    {"padding": None}, {"truncation": "only_second", "max_length": 5}, {"truncation": "only_second", "max_length": 4000},
    {"tokenize": False}, {"return_dict": False}, {"return_dict": False, "padding": True},
    {"max_length": 3}, {"return_assistant_tokens_mask": True, "chat_template": MASKED},
    {"return_assistant_tokens_mask": True, "chat_template": MASKED, "padding": True},
    {"return_assistant_tokens_mask": True, "chat_template": MASKED, "padding": True,
     "return_tensors": "np"},
    {"return_assistant_tokens_mask": True, "chat_template": MASKED, "truncation": True,
     "max_length": 30},
    {"return_assistant_tokens_mask": True, "tokenize": False},
    {"return_assistant_tokens_mask": True, "return_dict": False},
    {"continue_final_message": True}, {"continue_final_message": True, "tokenize": False},
    {"continue_final_message": True, "add_generation_prompt": True},
    {"sanitize_control_tokens": True}, {"sanitize_control_tokens": True, "tokenize": False},
    {"chat_template": "{{ raise_exception('no') }}"}, {"chat_template": "{{ x.y }}"},
    {"chat_template": "{% if %}"}, {"messages": 1}, {"conversations": 1},
    {"documents": [{"title": "t", "text": "x"}]}, {"documents": ["x"]}, {"tools": ["x"]},
    {"tools": []}, {"bos_token": "B", "extra": {"a": [1, 2.5, None, True]}},
], ids=repr)
@pytest.mark.parametrize("chats", [HI, TWO, [TWO], [HI, TWO], [], [[]], [HI, []], "text", None, 3,
                                   [3], [None], [[3]]], ids=["one", "two", "list of one", "list",
                                                             "none", "empty", "one empty", "str",
                                                             "None", "int", "ints", "Nones", "in"])
@pytest.mark.parametrize("name", ["default", "llama3_1"])
def test_arguments(name, chats, arguments, load):
    model, tokenizer = load(name)
    want = attempt(lambda: tokenizer.apply_chat_template(copy.deepcopy(chats), **arguments))
    same(attempt(lambda: model.apply_chat_template(copy.deepcopy(chats), **arguments)), want)


class Colour(str, enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Message:
    role: str
    content: object
    name: object = None


class Chat:
    def __init__(self, messages):
        self.messages = messages


class Dumps:
    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self):
        return self.fields


SHOW = "{% for m in messages %}{{ m }}|{{ m.content }}{% endfor %}{{ tools }}{{ v }}{{ documents }}"


def odd_objects():
    import numpy
    import pydantic

    class Part(pydantic.BaseModel):
        type: str = "text"
        text: str = "part"
        more: object = None

    class Turn(pydantic.BaseModel):
        role: str
        content: object

    deep = "x"
    for _ in range(50):
        deep = [deep]
    return [
        [Message("user", "dataclass")], [Turn(role="user", content=[Part()])],
        [Dumps(role="user", content=Dumps(a=1))], (Message("user", ("a", 1)),),
        Chat([Message("user", "in a chat")]), [Chat(HI), Chat(TWO)],
        [{"role": "user", "content": Colour.RED}], [OrderedDict(role="user", content="ordered")],
        [UserDict(role="user", content="user dict")],
        [{"role": "user", "content": [numpy.int64(3), numpy.float32(0.5), numpy.bool_(False)]}],
        [{"role": "user", "content": numpy.zeros(3)}], [{"role": "user", "content": b"bytes"}],
        [{"role": "user", "content": {1: "int", 2.5: "float", None: "none", True: "bool",
                                      (1, 2): "tuple"}}],
        [{"role": "user", "content": [10 ** 40, -2 ** 63, 2 ** 63, -10 ** 30, 1e308, -0.0]}],
        [{"role": "user", "content": [float("nan"), float("inf")]}],
        [{"role": "user", "content": {"set": {1}, "type": int, "function": len}}],
        [{"role": "user", "content": deep}], [{"role": "user", "content": "é🙂\x00\u2028"}],
        [{"role": "user", "content": "\ud800"}], [{"role": "user", "content": None, "x": None}],
        iter(HI), {"role": "user"}, [["role", "user"]], [("role", "user")],
    ]


@pytest.mark.parametrize("i", range(24))
def test_objects(i, load):
    model, tokenizer = load("default")
    for more in ({"tokenize": False}, {}):
        for v in (None, odd_objects()[i]):
            arguments = {"chat_template": SHOW, "v": v, **more}
            want = attempt(lambda: tokenizer.apply_chat_template(odd_objects()[i], **arguments))
            same(attempt(lambda: model.apply_chat_template(odd_objects()[i], **arguments)), want)


@pytest.mark.parametrize("sanitize", [False, True])
def test_tuples(sanitize, load):
    """Tuples stay what they are, documents included, but for sanitizing, which makes lists."""
    model, tokenizer = load("default")
    rows = ({"a": (1, ())},)
    for documents in (rows, (), [()], ("x",), list(rows)):
        for tools in (None, rows, ()):
            arguments = {"chat_template": SHOW, "v": (1, (), ["<x>"]), "documents": documents,
                         "tools": tools, "sanitize_control_tokens": sanitize}
            messages = [{"role": "user", "content": ("a", {"b": (), "c": (1,)})}]
            want = attempt(lambda: tokenizer.apply_chat_template(messages, **arguments))
            same(attempt(lambda: model.apply_chat_template(messages, **arguments)), want)
