import os
from typing import Any, Optional, Union

from tokdrain._model import Model

_Name = Union[str, os.PathLike[str], Model]

class CountBatches:
    def __init__(self, model: _Name, counter_options: Optional[dict[str, Any]] = None,
                 **columns: Any) -> None: ...
    def __call__(self, table: Any) -> Any: ...

def count_ray(dataset: Any, model: _Name, *, concurrency: int = 2, num_cpus: float = 1,
              batch_size: int = 4096, counter_options: Optional[dict[str, Any]] = None,
              **columns: Any) -> Any: ...
def count_spark(frame: Any, model: _Name, *, counter_options: Optional[dict[str, Any]] = None,
                **columns: Any) -> Any: ...
