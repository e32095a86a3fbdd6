from collections import UserDict
from typing import Any, Mapping, Optional

class BatchEncoding(UserDict[str, Any]):
    input_ids: Any
    attention_mask: Any
    def __init__(self, data: Optional[Mapping[str, Any]] = None) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
