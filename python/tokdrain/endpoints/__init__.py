"""Stand-ins for parts of mlcommons/endpoints. Importing this needs nothing but Python: names are
loaded when they are first used."""
import importlib

_PLACES = {"BatchTokenizer": "batch_tokenizer", "MessageInput": "inputs", "PromptInput": "inputs",
           "TextInput": "inputs", "TokenIdsInput": "inputs"}
__all__ = [*_PLACES]


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module 'tokdrain.endpoints' has no attribute {name!r}")
    module = importlib.import_module(f"tokdrain.endpoints.{_PLACES[name]}")
    return getattr(module, name)
