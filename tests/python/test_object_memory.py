"""Nothing is leaked and nothing is let go too early: reference counts and resident memory."""
import asyncio
import gc
import sys

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
if not sys.platform.startswith("linux"):
    pytest.skip("resident memory is read from /proc", allow_module_level=True)
BAD = {"messages": [{"role": "user", "content": "x"}], "chat_template": "{{ x.y }}"}


class Dumps:
    def model_dump(self):
        return {"role": "user", "content": "x" * 50}


class Raises:
    def model_dump(self):
        raise ValueError("no")


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


@pytest.fixture(scope="module")
def model():
    return tokdrain.Model.built_in()


def calls(model, counter):
    content = "".join(["some text ", "é🙂"])
    chat = [{"role": "user", "content": content, "n": 10 ** 30, "t": (1, 2.5, None, True)}]
    odd = [{"role": "user", "content": [Dumps(), {1: "\ud800"}]}]

    def quiet(f, *args, **kwargs):
        try:
            f(*args, **kwargs)
        except (tokdrain.Error, ValueError, TypeError):
            pass
    return {
        "count": lambda: model.count(chat),
        "text": lambda: model.count(content),
        "encode": lambda: model.decode(model.encode(content)),
        "template": lambda: model.apply_chat_template([chat, chat], padding=True),
        "mask": lambda: model.apply_chat_template(
            chat, chat_template="{% generation %}a{% endgeneration %}",
            return_assistant_tokens_mask=True),
        "spans": lambda: model.count_messages(chat),
        "error": lambda: quiet(model.count, **{"messages_or_text": chat, "chat_template": "{{ x.y"}),
        "objects": lambda: quiet(model.count, odd),
        "raises": lambda: quiet(model.count, [{"role": Raises()}]),
        "surrogate": lambda: quiet(model.count, "\ud800" * 9),
        "batch": lambda: counter.count_batch([chat, BAD, "x", b'{"text": "x", "id": [1]}', 3]),
        "iterator": lambda: [r.error for r in counter.count_iter([chat, BAD, [Dumps()]])],
        "left": lambda: next(counter.count_iter([chat] * 5)),
        "request": lambda: counter._queue.read(chat),
        "flat": lambda: quiet(model.encode_batch, [content] * 3),
        "raised": lambda: quiet(counter.count, BAD),
    }


NAMES = list(calls(None, None))


@pytest.mark.parametrize("name", NAMES)
def test_resident_memory_stays(name, model):
    with tokdrain.Counter(model, jobs=2) as counter:
        call = calls(model, counter)[name]
        rounds = 3000
        for _ in range(rounds):
            call()
        gc.collect()
        before = resident()
        for _ in range(2):  # a leak of 100 bytes in a call shows as 600 KB
            for _ in range(rounds):
                call()
        gc.collect()
        assert resident() - before < 500 * 1024


def test_reference_counts(model):
    """Values that are read keep exactly the references that they had."""
    strings = ["".join(["key", str(i)]) for i in range(3)]
    value = object.__new__(Dumps)
    big, real = 10 ** 25 + 7, 1.5e10 + 3
    inner = [strings[1], big, real, value, (strings[2],)]
    chat = [{"role": "user", strings[0]: inner, "content": "x"}]
    watched = [*strings, value, big, real, inner, chat, chat[0], Dumps, tokdrain.Result]
    with tokdrain.Counter(model, jobs=2) as counter:
        def use():
            for _ in range(50):
                model.count(chat)
                counter.count_batch([chat, {"messages": chat, "chat_template": "{{ x.y }}"}])
                with pytest.raises(tokdrain.TemplateError):
                    model.count(chat, chat_template="{{ raise_exception(messages) }}")
        use()
        gc.collect()
        before = [sys.getrefcount(w) for w in watched]
        use()
        gc.collect()
        assert [sys.getrefcount(w) for w in watched] == before


def test_results_are_collected(model):
    """A result whose error was raised is part of a cycle through the traceback."""
    def alive():
        gc.collect()
        return sum(type(o) is tokdrain.Result for o in gc.get_objects())
    with tokdrain.Counter(model, jobs=1) as counter:
        before = alive()
        for _ in range(20):
            try:
                result = counter.count_batch([BAD])[0]
                raise result.error
            except tokdrain.Error:
                del result
        assert alive() == before


def test_asyncio_keeps_nothing(model):
    async def use(counter):
        for _ in range(30):
            await counter.acount_batch(["x"] * 50)
            tasks = [asyncio.ensure_future(counter.acount_batch(["x"] * 9)) for _ in range(9)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for _ in range(500):  # those that waited for room are let go at the next delivery
            if not counter._dispatcher._waiters:
                break
            await asyncio.sleep(0.01)
        return len(counter._dispatcher._futures) + len(counter._dispatcher._waiters)
    with tokdrain.Counter(model, jobs=2, queue=16) as counter:
        assert asyncio.run(use(counter)) == 0
        gc.collect()
        before = resident()
        for _ in range(3):
            asyncio.run(use(counter))
        gc.collect()
        assert resident() - before < 1 << 20


def test_models_are_freed(default_dir):
    def load(times):
        for _ in range(times):
            made = tokdrain.Model.from_pretrained(default_dir)
            made.count("x")
            tokdrain.Counter(made, jobs=3).count("y")
        gc.collect()
        return resident()
    load(20)  # threads get their heaps from the system, once
    before = load(20)
    assert load(40) - before < 4 << 20
