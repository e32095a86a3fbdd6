"""Where the local Hugging Face cache is. Nothing is ever fetched."""
import os
from pathlib import Path


def cache_folder():
    """The folder of the hub cache, by the variables that huggingface_hub reads."""
    for variable, below in (("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME",
                                                                      "huggingface/hub")):
        value = os.environ.get(variable)
        if value:
            return str(Path(os.path.expandvars(value)).expanduser() / below)
    return str(Path.home() / ".cache" / "huggingface" / "hub")
