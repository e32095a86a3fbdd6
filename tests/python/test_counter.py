"""Counter: order, errors as values, threads, asyncio, processes, interrupts, the end."""
import asyncio
import inspect
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
SLOW = ("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
        "{{ messages }}")


def chat(i):
    return [{"role": "user", "content": f"number {i} " * (i % 7)}]


@pytest.fixture(scope="module")
def model():
    return tokdrain.Model.built_in()


@pytest.fixture(scope="module")
def want(model):
    return [model.count(chat(i)) for i in range(2000)]


@pytest.fixture(params=[1, 2, 7])
def counter(request, model):
    with tokdrain.Counter(model, jobs=request.param, queue=64, max_steps=300000) as made:
        yield made


MIXED = [
    ([{"role": "user", "content": "x"}], None), ("text", None), (b'{"text": "text", "id": 5}', None),
    ({"messages": [{"role": "user", "content": "x"}], "id": {"a": [1]}}, None),
    ({"token_ids": [1, 2, 3]}, None), ({"message": {"content": "x"}}, None),
    (({"role": "user", "content": "tuple"},), None), ("", None),
    (b"{", tokdrain.InputError), ({}, tokdrain.InputError), ([], tokdrain.InputError),
    (None, tokdrain.InputError), (3, tokdrain.InputError), ({"messages": "x"}, tokdrain.InputError),
    ({"messages": [{"role": "user", "content": "x"}], "chat_template": "{% if"},
     tokdrain.TemplateError),
    ("\ud800", tokdrain.TokenizerError), ({1: 2}, tokdrain.InputError),
    ({"messages": [{"role": "user", "content": "x"}], "chat_template": SLOW}, tokdrain.LimitError),
]


def test_errors_are_values_in_their_places(counter):
    requests = [request for request, _ in MIXED] * 3
    results = counter.count_batch(requests)
    assert [r.index for r in results] == list(range(len(requests)))
    for result, (_, error) in zip(results, MIXED * 3, strict=True):
        if error is None:
            assert result.error is None and result.tokens is not None, result
        else:
            assert type(result.error) is error and result.tokens is None
            assert result.error.index == result.index
    assert results[2].id == 5 and results[3].id == {"a": [1]} and results[0].id is None
    assert [r.via for r in results[:6]] == ["messages", "text", "text", "messages", "token_ids",
                                            "message"]
    with pytest.raises(tokdrain.InputError):
        counter.count_batch(requests, raise_errors=True)


def test_objects_that_fail_while_they_are_read(counter):
    class Bad:
        def model_dump(self):
            raise KeyError("inside")

    class Changes(dict):
        pass
    loop = []
    loop.append(loop)
    grows = {"a": 1}

    class Grows:
        def model_dump(self):
            grows[len(grows)] = 1
            return {}
    grows["b"] = Grows()
    odd = [Bad(), loop, grows, [[[[]]]] * 5, Changes(x=Bad())]
    results = counter.count_batch([{"messages": [{"role": "user", "content": o}]} for o in odd])
    kinds = [r.error and r.error.kind for r in results]
    assert kinds == ["input", "limit", "input", "template", "input"]
    assert "KeyError" in str(results[0].error) and "changed size" in str(results[2].error)


def test_iterator_keeps_order_and_back_pressure(counter, want):
    read = []

    def requests():
        for i in range(2000):
            read.append(i)
            yield chat(i)
    got = []
    for result in counter.count_iter(requests()):
        got.append(result.tokens)
        assert len(read) - len(got) <= 64
    assert got == want


def test_an_iterator_that_is_left_early(counter, want):
    for i, result in enumerate(counter.count_iter(chat(i) for i in range(2000))):
        if i == 10:
            break
    assert [r.tokens for r in counter.count_batch([chat(i) for i in range(50)])] == want[:50]

    def broken():
        yield chat(1)
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        list(counter.count_iter(broken()))
    assert counter.count(chat(3)).tokens == want[3]


def test_threads_share_one_counter(counter, want):
    def batch(start):
        return [r.tokens for r in counter.count_batch([chat(i) for i in range(start, start + 300)])]

    def iterate(start):
        return [r.tokens for r in counter.count_iter(chat(i) for i in range(start, start + 300))]
    with ThreadPoolExecutor(8) as pool:
        jobs = [(s, pool.submit(f, s)) for s in range(0, 1700, 100) for f in (batch, iterate)]
        for start, job in jobs:
            assert job.result() == want[start:start + 300]
    assert counter.stats()["done"] == 2 * 17 * 300


def test_threads_share_one_model(model, want):
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda i: model.count(chat(i)), range(2000))) == want


def test_asyncio(counter, want):
    async def many(start):
        return [r.tokens async for r in counter.acount(chat(i) for i in range(start, start + 200))]

    async def main():
        one = await counter.acount(chat(5))
        all_of_them = await asyncio.gather(*(many(s) for s in range(0, 1800, 200)))
        batch = await counter.acount_batch([chat(i) for i in range(100)])
        with pytest.raises(tokdrain.InputError):
            await counter.acount({})

        async def source():
            for i in range(150):
                await asyncio.sleep(0)
                yield chat(i)
        streamed = [r.tokens async for r in counter.acount(source())]
        return one, all_of_them, batch, streamed
    one, all_of_them, batch, streamed = asyncio.run(main())
    assert one.tokens == want[5] and sum(all_of_them, []) == want[:1800]
    assert [r.tokens for r in batch] == want[:100] and streamed == want[:150]
    asyncio.run(main())  # another event loop


def test_asyncio_does_not_block_the_loop(model):
    async def main():
        with tokdrain.Counter(model, jobs=1, queue=2, timeout=0.1) as counter:
            slow = {"messages": chat(1), "chat_template": SLOW}
            waiting = [asyncio.ensure_future(counter.acount_batch([slow])) for _ in range(4)]
            ticks = 0
            while not all(w.done() for w in waiting):
                await asyncio.sleep(0.005)
                ticks += 1
            return ticks, [w.result()[0].error.kind for w in waiting]
    ticks, kinds = asyncio.run(main())
    assert kinds == ["timeout"] * 4 and ticks > 20


def test_cancelled_tasks(model, want):
    async def main():
        counter = tokdrain.Counter(model, jobs=2)
        slow = {"messages": chat(1), "chat_template": SLOW}
        task = asyncio.ensure_future(counter.acount_batch([slow] * 5))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await asyncio.wait_for(counter.acount_batch([chat(7)]), 30))[0].tokens
    assert asyncio.run(main()) == want[7]


def test_pickled(model, want, default_dir):
    for made in (model, tokdrain.Model.from_pretrained(default_dir)):
        assert pickle.loads(pickle.dumps(made)).count(chat(9)) == want[9]
        with tokdrain.Counter(made, jobs=2, fallback=True, now="2026-03-04T05:06:07") as counter:
            with pickle.loads(pickle.dumps(counter)) as again:
                again.count_batch([chat(9)])
                assert again.count({"messages": chat(1), "chat_template":
                                    "{{ strftime_now('%Y-%m-%d %H') }}"}).tokens == \
                    model.count("2026-03-04 05")
                assert again.count_batch([[]])[0].via == "fallback"
    for error in (tokdrain.TemplateError("m", line=3, column=4, index=7), tokdrain.Error("x")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), vars(again), str(again)) == (type(error), vars(error), str(error))


def test_closed(model):
    counter = tokdrain.Counter(model, jobs=2)
    assert counter.count("x").tokens == 1
    counter.close()
    counter.close()
    for use in (lambda: counter.count("x"), lambda: list(counter.count_iter(["x"])), counter.stats,
                lambda: asyncio.run(counter.acount_batch(["x"]))):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_closed_while_others_wait(model):
    counter = tokdrain.Counter(model, jobs=1)
    slow = {"messages": chat(1), "chat_template": SLOW}
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(counter.count_batch, [slow] * 3) for _ in range(4)]
        time.sleep(0.2)
        begun = time.monotonic()
        counter.close()
        for job in waiting:
            with pytest.raises(ValueError, match="closed"):
                job.result()
        assert time.monotonic() - begun < 5


def test_fork(model, want):
    """A child of a process whose threads are at work counts with threads of its own."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork")
    with tokdrain.Counter(model, jobs=2) as counter:
        busy = threading.Thread(target=lambda: [model.count(chat(i)) for i in range(2000)])
        batch = threading.Thread(target=lambda: counter.count_batch([chat(i) for i in range(2000)]))
        busy.start(), batch.start()
        for _ in range(5):
            child = os.fork()
            if child == 0:
                good = [r.tokens for r in counter.count_batch([chat(i) for i in range(20)])]
                more = [model.count(chat(i)) for i in range(20)]
                os._exit(0 if good == more == want[:20] else 1)
            assert os.waitpid(child, 0)[1] == 0
        busy.join(), batch.join()
        assert counter.count(chat(4)).tokens == want[4]


def test_multiprocessing(model, want):
    import multiprocessing
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            assert pool.map(model.count, [chat(i) for i in range(20)]) == want[:20]


SCRIPT = """
import asyncio, os, signal, sys, threading, time
import tokdrain
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a job control is missing
chat = [{"role": "user", "content": "x"}]
slow = {"messages": chat, "chat_template": %r}
counter = tokdrain.Counter(tokdrain.Model.built_in(), jobs=2)
def later(signal_number, after=0.3):
    threading.Timer(after, os.kill, (os.getpid(), signal_number)).start()
""" % SLOW.replace("99999", "99998")


def run_script(text):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.run([sys.executable, "-c", SCRIPT + textwrap.dedent(text)], timeout=60,
                          env=environment, capture_output=True, text=True, check=False)


def test_interrupted_batch():
    """Ctrl-C ends a batch at once, drops it, and leaves the counter usable."""
    done = run_script("""
        later(signal.SIGINT)
        begun = time.monotonic()
        for wait in (lambda: counter.count_batch([slow] * 50),
                     lambda: list(counter.count_iter([slow] * 50)),
                     lambda: counter.count_batch([slow] * 5000)):
            try:
                wait()
            except KeyboardInterrupt:
                later(signal.SIGINT)
        assert time.monotonic() - begun < 10, time.monotonic() - begun
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert counter.count(chat).tokens > 0
        assert counter.stats()["queued"] == 0
        print("good")
    """)
    assert done.stdout == "good\n", done.stderr


@pytest.mark.parametrize("text", [
    "threading.Thread(target=counter.count_batch, args=([slow] * 9,), daemon=True).start()\n"
    "time.sleep(0.2)",
    "it = counter.count_iter([chat, slow, slow, slow])\nnext(it)",
    "async def main():\n    asyncio.ensure_future(counter.acount_batch([slow] * 5))\n"
    "    await asyncio.sleep(0.1)\nasyncio.run(main())",
    "async def main():\n    global f\n    f = await counter._dispatcher.submit(slow, 0)\n"
    "asyncio.run(main())",
    "del counter", "counter.count_batch([chat] * 2000)",
    "threading.Thread(target=lambda: tokdrain.Model.built_in().count(chat)).start()",
], ids=["thread", "iterator", "tasks", "future", "deleted", "done", "late"])
def test_exit_with_work_in_flight(text):
    begun = time.monotonic()
    done = run_script(text + "\nprint('end')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
    assert time.monotonic() - begun < 20


def test_killed_by_the_default_signal_handler():
    done = run_script("later(signal.SIGTERM)\ncounter.count_batch([slow] * 100)")
    assert done.returncode == -signal.SIGTERM


def test_stats_and_reuse(model):
    with tokdrain.Counter(model, jobs=2, memory="1MiB") as counter:
        first = counter.count(chat(6))
        assert counter.count(chat(6)).reused > 0 and first.tokens == counter.count(chat(6)).tokens
        stats = counter.stats()
        assert stats["done"] == 3 and stats["jobs"] == 2 and stats["queued"] == 0
        assert 0 < stats["memo_bytes"] <= 1 << 20
    with tokdrain.Counter(model, reuse=False, verify=True) as counter:
        assert [r.reused for r in counter.count_batch([chat(6)] * 3)] == [0] * 3


@pytest.mark.parametrize("options", [{"memory": "lots"}, {"now": "yesterday"}, {"jobs": -1},
                                     {"chat_template_kwargs": [1]}, {"queue": -5}, {"nope": 1}])
def test_wrong_options(model, options):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        tokdrain.Counter(model, **options)


def test_request_options(model):
    with tokdrain.Counter(model, chat_template="{{ a }}{{ b }}", chat_template_kwargs={"a": "x"},
                          max_output="1KiB") as counter:
        assert counter.count({"messages": chat(1), "chat_template_kwargs": {"b": "y"}}).tokens == \
            model.count("xy")
        big = {"messages": chat(1), "chat_template_kwargs": {"b": "y" * 2000}}
        assert counter.count_batch([big])[0].error.kind == "limit"
    line = json.dumps({"messages": chat(5)}).encode()
    with tokdrain.Counter(model) as counter:
        assert counter.count(line).tokens == model.count(chat(5))


USED_AMID_DELIVERY = r"""
import faulthandler, gc, sys, tokdrain
faulthandler.dump_traceback_later(20, exit=True)

class Last:
    def __init__(self, act):
        self.act, self.me = act, self

    def __del__(self):
        self.act()

gc.disable()
model = tokdrain.Model.built_in()
counter = tokdrain.Counter(model, jobs=2)
seen = []
made = tokdrain._errors.make

def make(*args):  # what a finalizer or a signal handler may do while an error is made
    if len(seen) < 2:
        Last(lambda: seen.append(act()))
        gc.collect()
    return made(*args)

tokdrain._native.core.set_helpers(make, tokdrain._plain.plain)
act = {"close": counter.close,
       "count": lambda: counter.count("x").tokens,
       "abandon": lambda: counter._queue.abandon(range(1000))}[sys.argv[1]]
try:
    counts = [r.error is not None for r in counter.count_batch([[]] * 40)]
except ValueError as error:
    counts = str(error)
print(seen[:1], counts if isinstance(counts, str) else (len(counts), all(counts)))
"""


@pytest.mark.parametrize(("act", "prints"), [
    ("close", "[None] the counter was closed"), ("count", "[1] (40, True)"),
    ("abandon", "[None] no such ticket")])
def test_finalizers_that_use_the_counter(act, prints):
    done = subprocess.run([sys.executable, "-c", USED_AMID_DELIVERY, act], capture_output=True,
                          text=True, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert (done.stdout.strip(), done.returncode) == (prints, 0), done.stderr


def test_an_exception_amid_delivery_loses_no_other_result(model):
    """What a signal handler raises while an error is made ends one wait; other results stay."""
    native = tokdrain._native.core

    def interrupted(*args):
        raise KeyboardInterrupt

    with tokdrain.Counter(model, jobs=1) as counter:
        queue = counter._queue
        tickets = [queue.submit(queue.read(r), 0, False) for r in ([], "x", [], "x y")]
        while counter.stats()["done"] < 4:
            time.sleep(0.01)
        native.set_helpers(interrupted, tokdrain._plain.plain)
        try:
            with pytest.raises(KeyboardInterrupt):
                queue.take(tickets[0], True)
        finally:
            native.set_helpers(tokdrain._errors.make, tokdrain._plain.plain)
        assert [queue.take(t, False).tokens for t in (tickets[1], tickets[3])] == \
            [model.count("x"), model.count("x y")]
        with pytest.raises(ValueError, match="no such ticket"):
            queue.take(tickets[2], True)


def test_what_nobody_wants_stops_alone(model, want):
    """One of several that are outstanding: it leaves its thread to the next."""
    with tokdrain.Counter(model, jobs=1) as counter:
        queue = counter._queue
        slow = {"messages": chat(1), "chat_template": SLOW}
        tickets = [queue.submit(queue.read(r), 0, False) for r in (slow, slow, chat(3), slow)]
        queue.abandon(tickets[:2])
        assert queue.take(tickets[2], True).tokens == want[3]
        assert counter.stats()["outstanding"] == 1
        queue.abandon([*tickets, 2 ** 60])
        assert counter.stats()["outstanding"] == 0
        assert counter.count(chat(4)).tokens == want[4]

    async def main():
        with tokdrain.Counter(model, jobs=1) as counter:
            endless = asyncio.ensure_future(counter.acount(slow))
            waiting = asyncio.ensure_future(counter.acount(chat(5)))
            await asyncio.sleep(0.05)
            endless.cancel()
            return (await asyncio.wait_for(waiting, 30)).tokens
    assert asyncio.run(main()) == want[5]


@pytest.mark.parametrize("leave", ["close", "interrupt"])
def test_nobody_waits_for_a_long_text_that_is_left(model, leave):
    """Its thread goes on for a while, until the encoder looks up; Python does not notice."""
    long = " " * 60_000_000
    with tokdrain.Counter(model, jobs=2) as counter:
        results = counter.count_iter(["x", long, long])
        assert next(results).tokens == 1
        gaps, end = [], threading.Event()

        def tick():
            last = time.monotonic()
            while not end.wait(0.001):
                now = time.monotonic()
                gaps.append(now - last)
                last = now
        ticker = threading.Thread(target=tick)
        ticker.start()
        time.sleep(0.1)
        begun = time.monotonic()
        if leave == "close":
            results.close()
        else:
            with pytest.raises(KeyboardInterrupt):
                results.throw(KeyboardInterrupt)
        took = time.monotonic() - begun
        end.set()
        ticker.join()
        assert took < 0.3 and max(gaps) < 0.5, (took, max(gaps))


def test_interrupts_anywhere_lose_no_ticket(model):
    """An exception at any instruction of the iterator, up to where it gives its tickets up."""
    with tokdrain.Counter(model, jobs=2, queue=3) as counter:
        code = counter._results.__func__.__code__
        lines = [line for _, _, line in code.co_lines() if line is not None]
        source = inspect.getsource(code).splitlines()
        end = code.co_firstlineno + next(i for i, x in enumerate(source) if "finally:" in x)
        assert min(lines) < end <= max(lines)

        def run(at):
            left = at

            def inside(frame, event, arg):
                nonlocal left
                frame.f_trace_opcodes = True
                if event == "opcode" and (frame.f_lineno or end) < end:
                    left -= 1
                    if left == 0:
                        raise KeyboardInterrupt
                return inside
            before = sys.gettrace()
            sys.settrace(lambda frame, event, arg: inside if frame.f_code is code else None)
            try:
                return [r.tokens for r in counter.count_iter("x" for _ in range(7))]
            except KeyboardInterrupt:
                return None
            finally:
                sys.settrace(before)
        at = 1
        while (got := run(at)) is None:
            assert counter.stats()["outstanding"] == 0, at
            at += 1
        assert got == [1] * 7 and at > 200


def test_a_ticket_that_cannot_be_kept_is_given_up(model):
    class Full:
        def append(self, ticket):
            raise MemoryError
    with tokdrain.Counter(model, jobs=1) as counter:
        queue, held = counter._queue, []
        with pytest.raises(MemoryError):
            queue.submit(queue.read("x"), 0, False, Full())
        assert counter.stats()["outstanding"] == 0
        ticket = queue.submit(queue.read("x"), 0, False, held)
        assert held == [ticket] and queue.take(ticket, True).tokens == 1


@pytest.mark.parametrize("one", ["text", b"{}", bytearray(b"{}"), {"text": "x"}])
def test_one_request_is_no_batch(model, one):
    """Its characters or keys would be counted. A text may be awaited, but not iterated over."""
    async def iterate(counter):
        return [r async for r in counter.acount(one)]
    with tokdrain.Counter(model) as counter:
        for use in (counter.count_batch, counter.count_iter, model.encode_batch,
                    lambda x: asyncio.run(counter.acount_batch(x)),
                    lambda x: asyncio.run(iterate(counter))):
            with pytest.raises(TypeError, match=f"not a single {type(one).__name__}"):
                use(one)


@pytest.mark.parametrize(("queue", "most"), [(0, 1024), (1, 1), (5, 5)])
def test_how_many_are_read_ahead(model, queue, most):
    """queue=0 is the default bound."""
    read = []
    with tokdrain.Counter(model, jobs=1, queue=queue, max_steps=2 ** 60) as counter:
        slow = {"messages": chat(1), "chat_template": SLOW}
        results = counter.count_iter(read.append(i) or slow for i in range(3000))
        threading.Timer(0.5, counter.close).start()
        with pytest.raises(ValueError, match="closed"):
            next(results)
    assert len(read) == most


def test_a_closed_counter_keeps_no_thread(model):
    """The one that waits for asyncio's results ends at once, not when it was idle for long."""
    def waiting():
        return [t for t in threading.enumerate() if t.name == "tokdrain-results"]

    async def main():
        with tokdrain.Counter(model, jobs=1) as counter:
            await counter.acount("x")
            assert len(waiting()) > before
    before = len(waiting())
    asyncio.run(main())
    end = time.monotonic() + 3
    while len(waiting()) > before and time.monotonic() < end:
        time.sleep(0.01)
    assert len(waiting()) <= before
