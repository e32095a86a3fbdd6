"""Counter: many requests on all cores, in order, from threads and from asyncio."""
import asyncio
import atexit
import json
import os
import threading
import weakref
from collections import deque

from tokdrain._errors import InputError
from tokdrain._native import core
from tokdrain._options import check_numbers, check_several, parse_moment, parse_size, utf8

Result = core.Result
__version__ = core.version


_open_queues = weakref.WeakSet()


@atexit.register
def _leave_all():
    for queue in list(_open_queues):
        queue.leave()


def queue_of(model, *, operation=0, packed=False, jobs=None, memory=0, reuse=True, verify=False,
             queue=0, queue_memory=0, chat_template=None, chat_template_kwargs=None,
             parse_arguments=False, fallback=False, now=None, timeout=None, max_output=0,
             max_steps=0, max_memory=0):
    """The native queue with these options; what is 0 or None is the library's default."""
    if jobs is not None and not 1 <= jobs < 1 << 31:
        raise InputError(f"jobs={jobs!r} is less than 1, or too large")
    check_numbers(queue=queue, max_steps=max_steps, timeout=timeout)
    kwargs = json.dumps(chat_template_kwargs) if chat_template_kwargs is not None else None
    template = utf8(chat_template) if chat_template is not None else None
    made = core.Queue(model._core, operation, packed, jobs or 0, queue, parse_size(queue_memory),
                      parse_size(memory), reuse, verify, template, kwargs, parse_arguments,
                      fallback, parse_size(max_output), max_steps, parse_size(max_memory),
                      int((timeout or 0) * 1e9), *parse_moment(now))
    _open_queues.add(made)
    return made


class Counter:
    """Counts requests on several threads that share what they have counted.

    A request is a list of messages, a text, a dict with the keys of a request line (docs/cli.md),
    or bytes with such a line in JSON. Results come in the order of the requests, one for each; an
    error is one item's result (Result.error) and touches no other, unless raise_errors is set.

    jobs: threads (default: the cores this process may use); memory: bound of the segments that are
    kept for reuse; queue, queue_memory: bounds of what is read and not yet counted. Counters can be
    pickled (their options are, not what they hold) and used after a fork."""

    def __init__(self, model, *, jobs=None, memory="256MiB", reuse=True, verify=False, queue=1024,
                 queue_memory="256MiB", chat_template=None, chat_template_kwargs=None,
                 parse_arguments=False, fallback=False, now=None, timeout=None, max_output=0,
                 max_steps=0, max_memory=0):
        from tokdrain._model import Model
        self.model = model if isinstance(model, Model) else Model.from_pretrained(model)
        self._options = {k: v for k, v in locals().items() if k not in ("self", "model", "Model")}
        self._window = queue or 1024
        self._queue = queue_of(self.model, **self._options)
        self._dispatcher = _Dispatcher(self._queue)

    def __reduce__(self):
        return _counter_again, (type(self), self.model, self._options)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        """Stops the threads; what is not counted is dropped."""
        self._queue.close()
        self._dispatcher.close()

    def stats(self):
        """Numbers since the beginning (done, failed, tokens, reused_tokens, ...) and of now:
        outstanding (submitted, and the result not yet taken), queued, running, memo_bytes, ..."""
        return self._queue.stats()

    # ---- waiting for results ----

    def count(self, request):
        """The Result of one request; its error is raised."""
        result = self.count_batch([request])[0]
        if result.error is not None:
            raise result.error
        return result

    def count_batch(self, requests, *, raise_errors=False):
        """A list with the Result of each request."""
        results = self._queue.batch(check_several(requests, "count_batch", "requests"))
        if raise_errors:
            for result in results:
                if result.error is not None and result.via != "fallback":
                    raise result.error
        return results

    def count_iter(self, requests, *, raise_errors=False):
        """Results while requests, any iterable, are still being read; never more of them in memory
        than the queue holds."""
        return self._results(check_several(requests, "count_iter", "requests"), raise_errors)

    def _results(self, requests, raise_errors):
        queue, tickets, index = self._queue, deque(), 0
        try:
            for request in requests:
                read = queue.read(request)
                while queue.submit(read, index, False, tickets) is None:
                    if tickets:
                        result = queue.take(tickets[0], True)
                        tickets.popleft()
                        yield _checked(result, raise_errors)
                    else:
                        queue.wait()
                index += 1
                wait = len(tickets) >= self._window
                while tickets and (result := queue.take(tickets[0], wait)) is not None:
                    tickets.popleft()
                    wait = False
                    yield _checked(result, raise_errors)
            while tickets:
                result = queue.take(tickets[0], True)
                tickets.popleft()
                yield _checked(result, raise_errors)
        finally:
            if tickets:
                queue.abandon(tickets)

    # ---- asyncio ----

    def acount(self, request):
        """`await counter.acount(request)`: the Result of one request; its error is raised.
        `async for result in counter.acount(requests)`: Results of many, which may be an async
        iterable, with at most the queue's number of them on their way."""
        return _Acount(self, request)

    async def acount_batch(self, requests, *, raise_errors=False):
        """A list with the Result of each request, without blocking the event loop."""
        check_several(requests, "acount_batch", "requests")
        return [_checked(r, raise_errors) async for r in self.acount(requests)]


def _checked(result, raise_errors):
    if raise_errors and result.error is not None and result.via != "fallback":
        raise result.error
    return result


def _counter_again(cls, model, options):
    return cls(model, **options)


# ---- asyncio ----

class _Acount:
    """What acount gives: to be awaited or iterated, once."""

    def __init__(self, counter, what):
        self._counter, self._what = counter, what

    def __await__(self):
        return self._one().__await__()

    async def _one(self):
        future = await self._counter._dispatcher.submit(self._what, 0)
        result = await future
        if result.error is not None and result.via != "fallback":
            raise result.error
        return result

    async def __aiter__(self):
        counter, futures, index = self._counter, deque(), 0
        try:
            async for request in _aiter(self._what):
                futures.append(await counter._dispatcher.submit(request, index))
                index += 1
                while futures and (futures[0].done() or len(futures) >= counter._window):
                    yield await futures.popleft()
            while futures:
                yield await futures.popleft()
        finally:
            for future in futures:
                future.cancel()


async def _aiter(requests):
    check_several(requests, "acount", "requests")
    if hasattr(requests, "__aiter__"):
        async for request in requests:
            yield request
    else:
        for request in requests:
            yield request


class _Dispatcher:
    """Hands results to event loops: a thread that waits while there is something to wait for."""

    IDLE_S = 5.0

    def __init__(self, queue):
        self._queue = queue
        self._closed = False
        self._start()

    def _start(self):
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._futures = {}  # ticket -> future; under the condition's lock, as all below
        self._waiters = []  # futures of tasks that wait for room
        self._thread = None

    def close(self):
        """The queue is closed: the thread ends when it has told all who wait."""
        if self._pid != os.getpid():
            return  # there is none, and its lock may be held for ever
        with self._changed:
            self._closed = True
            self._changed.notify()

    async def submit(self, request, index):
        """A future of the request's result, once the queue has room for it."""
        if self._pid != os.getpid():
            self._start()  # the thread did not come along
        loop = asyncio.get_running_loop()
        read = self._queue.read(request)
        while True:
            with self._changed:
                ticket = self._queue.submit(read, index, True)
                future = loop.create_future()
                if ticket is not None:
                    self._futures[ticket] = future
                    future.add_done_callback(lambda f: self._forget(f, ticket))
                else:
                    self._waiters.append(future)
                self._wake()
            if ticket is not None:
                return future
            await future

    def _forget(self, future, ticket):
        if not future.cancelled():
            return
        with self._changed:
            known = self._futures.pop(ticket, None)
        if known is not None:
            self._queue.abandon([ticket])

    def _wake(self):
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="tokdrain-results", daemon=True)
            self._thread.start()
        self._changed.notify()

    def _run(self):
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._futures or self._waiters or self._closed, self.IDLE_S)
                if not self._futures and not self._waiters:
                    self._thread = None
                    return
            try:
                self._deliver(self._queue.pump(), None)
            except Exception as error:  # closed, or out of memory: nobody shall wait for ever
                self._deliver([], error)

    def _deliver(self, pairs, error):
        by_loop = {}
        with self._changed:
            if error is not None:
                pairs = [(ticket, error) for ticket in self._futures]
            waiters, self._waiters = self._waiters, []
            done = [(self._futures.pop(t), r) for t, r in pairs if t in self._futures]
        for future, result in [*done, *((w, None) for w in waiters)]:
            by_loop.setdefault(future.get_loop(), []).append((future, result))
        for loop, items in by_loop.items():
            try:
                loop.call_soon_threadsafe(_set_all, items)
            except RuntimeError:
                pass  # the loop is closed: nobody waits any more


def _set_all(items):
    for future, result in items:
        if future.done():
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
