"""Exact, fast token counts of structured chat prompts.

    import tokdrain
    model = tokdrain.Model.from_pretrained("path-or-cached-name")
    model.count([{"role": "user", "content": "How many tokens is this?"}])

What transformers gives for the same model directory is what comes out here, or an error; never an
estimate. docs/python.md tells the rest.

Names are loaded when they are first used, so that modules which need no native code
(tokdrain.endpoints.metrics_aggregator) run without it."""
import importlib

_PLACES = {
    "BatchEncoding": "_encoding", "CountTimeout": "_errors", "Counter": "_counter",
    "Error": "_errors", "InputError": "_errors", "InternalError": "_errors",
    "LimitError": "_errors", "Model": "_model", "Result": "_counter", "Span": "_model",
    "TemplateError": "_errors", "TokenizerError": "_errors", "VerifyError": "_errors",
    "WorkerError": "_errors", "__version__": "_counter", "get_json_schema": "_schema",
}
__all__ = [*_PLACES]


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module 'tokdrain' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tokdrain.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_PLACES})
