"""Models: loading, text, taking over transformers' tokenizers, limits, errors, the types."""
import copy
import json
import os
import pickle
import shutil

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
TEXTS = ["", "Hello, world", "  two  spaces ", "é🙂\u0301\u200d", "<|im_start|>user<|im_end|>",
         "a\n\n\nb\t\r\n", "日本語のテキスト", "x" * 3000, "\x00\x01", "1234567890" * 9, "don't WON'T"]
MODELS = ["default", "qwen3", "llama3_1", "gptoss", "llama2"]
HI = [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize("name", MODELS)
def test_text(name, load):
    model, tokenizer = load(name)
    for special in (True, False):
        want = [tokenizer.encode(t, add_special_tokens=special) for t in TEXTS]
        assert [model.encode(t, special) for t in TEXTS] == want
        assert model.encode_batch(TEXTS, special) == want
        ids, offsets = model.encode_batch(iter(TEXTS), special, flat=True)
        assert [ids[a:b].tolist() for a, b in zip(offsets, offsets[1:])] == want
        for skip in (True, False):
            texts = [tokenizer.decode(x, skip_special_tokens=skip) for x in want]
            assert [model.decode(x, skip) for x in want] == texts
            assert model.decode(want, skip_special_tokens=skip) == texts
    assert [model.count(t) for t in TEXTS] == \
        [len(tokenizer.encode(t, add_special_tokens=False)) for t in TEXTS]
    assert len(model) == model.vocab_size == len(tokenizer)
    assert model.special_tokens_map == tokenizer.special_tokens_map
    for i in (0, 1, 77, len(tokenizer) - 1):
        assert model.id_to_token(i) == tokenizer.convert_ids_to_tokens(i)
        assert model.token_to_id(model.id_to_token(i)) == i
    assert model.id_to_token(2 ** 40) is None and model.token_to_id("no such \ud800") is None


def test_decode_takes_what_transformers_takes(load):
    import numpy
    model, tokenizer = load("default")
    ids = tokenizer.encode("Hello, world")
    for given in (ids, tuple(ids), numpy.array(ids), ids[0], numpy.array([ids, ids]), [ids, ids],
                  [], numpy.int64(ids[0])):
        assert model.decode(given) == tokenizer.decode(given)
    for wrong in ("text", [-1], [2 ** 32], None, [None], [1.5], object()):
        with pytest.raises((tokdrain.InputError, TypeError, ValueError)):
            model.decode(wrong)


@pytest.mark.parametrize("wrong", ["\ud800", "a\udfffb"])
def test_lone_surrogates_are_refused_as_there(wrong, load):
    model, tokenizer = load("default")
    for f in (tokenizer.encode, model.encode, model.count, lambda t: model.encode_batch([t])):
        with pytest.raises((TypeError, ValueError)):
            f(wrong)


@pytest.mark.parametrize("wrong", [None, 3, b"x", ["x"], object()])
def test_texts_must_be_texts(wrong, load):
    model, _ = load("default")
    with pytest.raises(TypeError):
        model.encode(wrong)
    with pytest.raises(TypeError):
        model.encode_batch([wrong])


@pytest.mark.parametrize("name", ["default", "qwen3", "llama2"])
def test_from_transformers(name, load):
    """Exactly the tokenizer that was loaded, with what was changed since."""
    import copy

    from transformers import AddedToken
    tokenizer = copy.deepcopy(load(name)[1])
    tokenizer.add_tokens([AddedToken("<new>", lstrip=True), "plainnew"])
    tokenizer.add_special_tokens({"pad_token": "<pad2>"})
    tokenizer.chat_template = {"default": "{{ pad_token }}{{ messages[0].content }}",
                               "tool_use": "{{ tools|tojson }}"}
    tokenizer.padding_side, tokenizer.truncation_side = "left", "left"
    tokenizer("x", truncation=True, max_length=3, padding="max_length")  # stays in the backend
    model = tokdrain.Model.from_transformers(tokenizer)
    for t in [*TEXTS, "a  <new> plainnew<pad2>", "x " * 50]:
        assert model.encode(t) == tokenizer.encode(t)
        assert model.decode(model.encode(t)) == tokenizer.decode(tokenizer.encode(t))
    for arguments in ({}, {"tools": [{"a": 1}]}, {"chat_template": "tool_use"},
                      {"padding": "max_length", "max_length": 9},
                      {"truncation": True, "max_length": 2}):
        got = model.apply_chat_template(HI * 2, **arguments)
        want = tokenizer.apply_chat_template(HI * 2, **arguments)
        assert got == want and type(got) is type(want)
    assert len(model) == len(tokenizer)
    import pickle
    assert pickle.loads(pickle.dumps(model)).encode("a <new>") == tokenizer.encode("a <new>")


def test_from_transformers_needs_a_fast_tokenizer():
    class Slow:
        pass
    with pytest.raises(tokdrain.InputError, match="Slow"):
        tokdrain.Model.from_transformers(Slow())


def test_cached_names(tmp_path, default_dir, monkeypatch):
    snapshot = tmp_path / "models--org--name" / "snapshots" / "abc"
    shutil.copytree(default_dir, snapshot)
    refs = tmp_path / "models--org--name" / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc")
    config = json.loads((snapshot / "tokenizer_config.json").read_text())
    (snapshot / "tokenizer_config.json").write_text(
        json.dumps({**config, "padding_side": "left", "model_max_length": 5}))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    for how in ({}, {"revision": "abc"}, {"cache_dir": tmp_path}):
        model = tokdrain.Model.from_pretrained("org/name", **how)
        assert len(model.encode("Hello, world")) > 1
        shaped = model.apply_chat_template([HI, HI * 3], padding=True, truncation=True)
        assert [len(x) for x in shaped["input_ids"]] == [5, 5]
    for name, how in (("org/none", {}), ("org/name", {"revision": "nope"}),
                      ("org/name", {"cache_dir": tmp_path / "none"}), ("", {}), ("../x", {})):
        with pytest.raises(tokdrain.InputError):
            tokdrain.Model.from_pretrained(name, **how)


def test_files_and_paths(default_dir, tmp_path):
    file = default_dir / "tokenizer.json"
    by_file = tokdrain.Model.from_pretrained(file)
    from tokenizers import Tokenizer
    reference = Tokenizer.from_file(str(file))
    assert by_file.encode("Hello, <|im_end|>") == reference.encode("Hello, <|im_end|>").ids
    with pytest.raises(tokdrain.TemplateError):
        by_file.count(HI)
    as_it_stands = tokdrain.Model.from_pretrained(default_dir, compat="tokenizer.json")
    assert as_it_stands.encode("Hello") == reference.encode("Hello").ids
    with pytest.raises(tokdrain.InputError):
        tokdrain.Model.from_pretrained(default_dir, compat="nope")
    broken = tmp_path / "tokenizer.json"
    broken.write_text('{"model": {"type": "Nope"}}')
    with pytest.raises(tokdrain.Error) as caught:
        tokdrain.Model.from_pretrained(broken)
    assert "Nope" in str(caught.value)
    with pytest.raises(tokdrain.InputError):
        tokdrain.Model.from_pretrained(os.fsencode(tmp_path / "none"))


def test_errors_tell_where():
    model = tokdrain.Model.built_in()
    template = "{% for m in messages %}\n  {{ m.content.x.y }}{% endfor %}"
    with pytest.raises(tokdrain.TemplateError) as caught:
        model.count([{"role": "user", "content": {"x": {"y": 1}}}, *HI], chat_template=template)
    error = caught.value
    assert (error.kind, error.file, error.line, error.message_index) == \
        ("template", "request", 2, 1)
    assert isinstance(error, ValueError) and error.column and "^" in error.excerpt
    with pytest.raises(tokdrain.TemplateError) as caught:
        model.count(HI, chat_template="{{ raise_exception('it \u0000 says \ud800') }}")
    assert caught.value.message == "it \x00 says \ud800"


def test_limits():
    model = tokdrain.Model.built_in()
    slow = "{% for i in range(99999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}"
    for options, kind in (({"max_steps": 1000}, "limit"), ({"timeout": 0.05}, "timeout")):
        with pytest.raises(tokdrain.Error) as caught:
            model.with_options(**options).count(HI, chat_template=slow)
        assert caught.value.kind == kind
    with pytest.raises(tokdrain.LimitError):
        model.with_options(max_output="10B").count(HI, chat_template="{{ 'x' * 100 }}")
    now = model.with_options(now="2026-03-04T05:06:07+02:00")
    text = now.apply_chat_template(HI, chat_template="{{ strftime_now('%Y %H:%M:%S') }}",
                                   tokenize=False)
    assert text == "2026 05:06:07"
    assert now.count(HI) == model.count(HI) == model.with_options(reuse=False).count(HI)


def test_without_transformers():
    """The package's own BatchEncoding, as nothing else is imported."""
    import subprocess
    import sys
    code = ("import tokdrain, sys\n"
            "made = tokdrain.Model.built_in().apply_chat_template([{'role': 'user',"
            " 'content': 'x'}])\n"
            "assert type(made) is tokdrain.BatchEncoding, type(made)\n"
            "assert made.input_ids == made['input_ids'] and list(made) == "
            "['input_ids', 'attention_mask'] and 'nope' not in made and not hasattr(made, 'nope')\n"
            "assert {**made} == dict(made.items())\n"
            "assert not {'transformers', 'numpy'} & set(sys.modules)\n"
            "import tokdrain.endpoints\n"
            "for name in tokdrain.__all__: getattr(tokdrain, name)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)), check=False)
    assert done.returncode == 0, done.stderr


def test_types_are_told_for_all_names():
    """The stubs name what the package has."""
    import ast
    from pathlib import Path
    folder = Path(tokdrain.__file__).parent
    stub = ast.parse((folder / "__init__.pyi").read_text())
    told = {a.asname for n in stub.body if isinstance(n, ast.ImportFrom) for a in n.names}
    assert told | {"__version__"} == set(tokdrain.__all__)
    core = ast.parse((folder / "_core.pyi").read_text())
    from tokdrain import _core
    for node in core.body:
        if isinstance(node, ast.ClassDef):
            have = {n for n in dir(getattr(_core, node.name)) if not n.startswith("_")}
            names = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            names |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
            assert {n for n in names if not n.startswith("__")} == have, node.name
    assert (folder / "py.typed").exists()


def test_named_tokens_are_special_whatever_the_file_says(load):
    """gemma3's files call <mask> ordinary; its class names it."""
    model, tokenizer = load("gemma3")
    number = tokenizer.convert_tokens_to_ids("<mask>")
    assert model.decode([number], skip_special_tokens=True) == \
        tokenizer.decode([number], skip_special_tokens=True) == ""


@pytest.mark.parametrize("options", [
    {"timeout": -1}, {"max_steps": -1}, {"max_steps": 1 << 64},
    {"memory": -1}, {"timeout": 1e30}])
def test_numbers_that_do_not_fit_are_refused(options):
    model = tokdrain.Model.built_in()
    for use in (model.with_options, lambda **o: tokdrain.Counter(model, **o)):
        with pytest.raises(tokdrain.InputError):
            use(**options)


def test_limits_hold_for_batches():
    model = tokdrain.Model.built_in().with_options(timeout=1e-9)
    with pytest.raises(tokdrain.CountTimeout):
        model.encode_batch(["x" * 1000])
    assert model.with_options(timeout=60).encode_batch(["x"]) == [
        model.with_options(timeout=None).encode("x")]


@pytest.mark.parametrize("more", [
    {"truncation": True, "max_length": -1}, {"padding": "max_length", "max_length": -1},
    {"truncation": True, "max_length": 2.0}, {"truncation": True, "max_length": 1 << 70},
    {"padding": True, "tokenizer_kwargs": {"pad_to_multiple_of": -8}},
    {"padding": True, "tokenizer_kwargs": {"padding_side": "bogus"}}])
def test_lengths_that_transformers_refuses(more, load):
    model, tokenizer = load("qwen3")
    with pytest.raises((OverflowError, TypeError, ValueError)):
        tokenizer.apply_chat_template([HI, HI], **more)
    with pytest.raises(tokdrain.InputError):
        model.apply_chat_template([HI, HI], **more)


def test_options_add_up():
    """One after the other or at once; None gives a default back. Also in another process."""
    model = tokdrain.Model.built_in()
    both = model.with_options(now="2026-03-04T05:06:07").with_options(max_output="10B")
    shown = {"chat_template": "{{ strftime_now('%Y-%m-%d') }}"}
    for made in (both, pickle.loads(pickle.dumps(both)), both.with_options(max_steps=None),
                 both.with_options(timeout=60).with_options(memory="1MiB", reuse=False)):
        assert made.apply_chat_template(HI, tokenize=False, **shown) == "2026-03-04"
        with pytest.raises(tokdrain.LimitError):
            made.count(HI, chat_template="{{ 'x' * 100 }}")
    free = both.with_options(max_output=None)
    assert free.count(HI, chat_template="{{ 'x' * 100 }}") > 1
    assert free.apply_chat_template(HI, tokenize=False, **shown) == "2026-03-04"
    today = both.with_options(now=None).apply_chat_template(HI, tokenize=False, **shown)
    assert today != "2026-03-04"


def test_names_that_are_no_utf8(tmp_path, default_dir):
    """Of folders and of templates' files: Python sees lone surrogates in them."""
    from transformers import AutoTokenizer
    folder = os.fsencode(tmp_path) + b"/model"
    more = folder + b"/additional_chat_templates"
    os.makedirs(more)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(default_dir / name, os.fsdecode(folder))
    names = [b"a", b"\xff", b"x\xe2\x82y\xc3", "\u00e9".encode(), b"\xed\xb3\xbf"]
    for name in names:
        with open(more + b"/" + name + b".jinja", "wb") as file:
            file.write(b"{{ 'is %d' }}" % sum(name))
    tokenizer = AutoTokenizer.from_pretrained(os.fsdecode(folder))
    os.rename(folder, folder + b"\xff")  # transformers cannot read it now
    model = tokdrain.Model.from_pretrained(folder + b"\xff")
    assert model.chat_templates == tokenizer.chat_template
    assert set(model.chat_templates) == {os.fsdecode(name) for name in names}
    assert {t["name"] for t in model.info()["chat_templates"]} == set(model.chat_templates)
    for made in (model, pickle.loads(pickle.dumps(model)),
                 tokdrain.Model.from_transformers(tokenizer)):
        for name in names:
            arguments = {"chat_template": os.fsdecode(name), "tokenize": False}
            assert made.apply_chat_template(HI, **arguments) == f"is {sum(name)}" == \
                tokenizer.apply_chat_template(HI, **arguments)


def test_surrogates_in_templates_and_special_tokens(load):
    _, tokenizer = load("default")
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.chat_template = {"one\udcff": "{{ '\ud800' }}{{ m }}", "default": "d"}
    model = tokdrain.Model.from_transformers(tokenizer)
    model = pickle.loads(pickle.dumps(model))
    assert model.chat_templates == tokenizer.chat_template
    arguments = {"chat_template": "one\udcff", "tokenize": False, "m": "\udfff"}
    assert model.apply_chat_template(HI, **arguments) == "\ud800\udfff" == \
        tokenizer.apply_chat_template(HI, **arguments)
    with tokdrain.Counter(model, chat_template="{{ '\ud800' | length }}") as counter:
        assert counter.count(HI).tokens == model.count("1")
