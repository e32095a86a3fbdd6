"""Counting on many machines, with engines that exist: Ray Data and Spark.

    dataset = distributed.count_ray(dataset, "model", concurrency=4)       # ray.data.Dataset
    frame = distributed.count_spark(frame, "model")                        # pyspark DataFrame

Both hand Arrow tables to tokdrain.arrow in worker processes, which load the model once each: its
name or path must mean the same on every machine. docs/python.md tells the rest."""
from tokdrain._counter import Counter
from tokdrain._errors import InputError


class CountBatches:
    """A callable class for `Dataset.map_batches(..., batch_format="pyarrow")`: one Counter an
    actor, tables in, tables with counts and errors out."""

    def __init__(self, model, counter_options=None, **columns):
        self._counter = Counter(model, **(counter_options or {}))
        self._columns = columns  # arrow.count's arguments

    def __call__(self, table):
        from tokdrain import arrow
        return arrow.count(self._counter, table, **self._columns)


def count_ray(dataset, model, *, concurrency=2, num_cpus=1, batch_size=4096, counter_options=None,
              **columns):
    """The Ray dataset with counts and errors (columns: arrow.count's arguments), by a pool of
    `concurrency` actors with num_cpus threads each. The cluster must have more CPUs than these:
    what reads and writes the data set needs some, too."""
    from ray.data import ActorPoolStrategy
    options = {"jobs": max(1, int(num_cpus)), **(counter_options or {})}
    return dataset.map_batches(
        CountBatches, fn_constructor_args=(_name(model), options), fn_constructor_kwargs=columns,
        batch_format="pyarrow", batch_size=batch_size,
        compute=ActorPoolStrategy(size=concurrency), num_cpus=num_cpus)


def count_spark(frame, model, *, counter_options=None, **columns):
    """The Spark DataFrame with counts and errors (columns: arrow.count's arguments). Each task
    counts with one thread; the model is kept by its Python process for the tasks that follow."""
    from pyspark.sql import types
    for name in (columns.get("tokens_column", "tokens"), columns.get("error_column", "error")):
        if name in frame.columns:
            raise InputError(f"there is a column {name!r} already: choose another name for it")
    schema = types.StructType([*frame.schema.fields, types.StructField(
        columns.get("tokens_column", "tokens"), types.LongType()), types.StructField(
            columns.get("error_column", "error"), types.StringType())])
    return frame.mapInArrow(_Partition(_name(model), {"jobs": 1, **(counter_options or {})},
                                       columns), schema)


def _name(model):
    """Paths travel, loaded models are pickled by theirs."""
    import os
    return os.path.abspath(model) if isinstance(model, (str, os.PathLike)) and \
        os.path.exists(model) else model


_counters = {}  # of this process: what makes a counter -> the counter


class _Partition:
    """What mapInArrow calls, once a task."""

    def __init__(self, model, options, columns):
        self._model, self._options, self._columns = model, options, columns

    def __call__(self, batches):
        import pickle

        from tokdrain import arrow
        key = pickle.dumps((self._model, self._options))
        counter = _counters.get(key)
        if counter is None:
            counter = _counters[key] = Counter(self._model, **self._options)
        for batch in batches:
            yield arrow.count(counter, batch, **self._columns)
