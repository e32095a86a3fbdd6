"""BatchTokenizer: what mlcommons/endpoints counts tokens with, counted natively.

Same constructor, methods and outcomes as upstream's class. Where upstream starts processes that are
pinned to blocks of cores, threads of one process count here, and what one has counted none counts
again; cores_per_worker and n_workers only say how many threads. Tokenizers that tokdrain cannot
read exactly are loaded with transformers and count as upstream does."""
import logging
import os
import time

from tokdrain._errors import Error
from tokdrain._model import Model

logger = logging.getLogger("tokdrain.endpoints")
CORES_PER_WORKER = 8


def _cores():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _load_wrapped(name, why):
    """transformers' tokenizer, and what makes it native if that is possible."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise why from None
    tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=True)
    plain = type(tokenizer).__module__.startswith("transformers.")
    if plain and getattr(tokenizer, "backend_tokenizer", None) is not None:
        try:
            return tokenizer, Model.from_transformers(tokenizer)
        except Error:
            pass
    return tokenizer, None


class BatchTokenizer:
    """Counts mixed batches of ids, texts, assistant messages and prompts (endpoints.inputs)."""

    def __init__(self, tokenizer_name, *, live_workers, cores_per_worker=CORES_PER_WORKER,
                 n_workers=-1):
        begun = time.perf_counter()
        self._live = max(1, live_workers)
        capacity = max(1, _cores() // max(1, cores_per_worker))
        if cores_per_worker <= 0 or n_workers == 0:
            jobs = self._live
            logger.info("BatchTokenizer: in-process tokenization (explicit)")
        else:
            blocks = capacity if n_workers < 0 else min(n_workers, capacity)
            jobs = max(1, min(_cores(), blocks * cores_per_worker))
        self._engine = self._make_engine(tokenizer_name, jobs)
        logger.info("BatchTokenizer: %d threads (setup %.1fs)", jobs,
                    time.perf_counter() - begun)

    def _make_engine(self, name, jobs):
        from tokdrain.endpoints.native import NativeEngine
        tokenizer = None
        try:
            model = Model.from_pretrained(name)
        except Error as why:
            tokenizer, model = _load_wrapped(name, why)
        if model is not None:
            return NativeEngine(name, model, jobs)
        from tokdrain.endpoints.wrapped import WrappedEngine
        logger.info("BatchTokenizer: no fast backend for %s; using the tokenizer wrapper for "
                    "in-process plain-text tokenization", name)
        return WrappedEngine(name, tokenizer, self._live)

    async def count_batch_async(self, inputs, loop, /, *, live=False):
        """One count or exception for each input, in their order. live: on at most live_workers
        threads, for counting while something else needs the machine."""
        if self._engine is None:
            from tokdrain.endpoints.inputs import kind_of
            closed = RuntimeError("BatchTokenizer is closed")
            return [len(i.token_ids) if kind_of(i) == "ids" else closed for i in inputs]
        return await self._engine.count(inputs, loop, self._live if live else None)

    def close(self):
        """Stops the threads; what is not counted is an exception. May be called again."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
