from typing import Any, Protocol

class _DLPack(Protocol):
    def __dlpack__(self) -> Any: ...

Array = Any  # whatever has the buffer protocol, or _DLPack

