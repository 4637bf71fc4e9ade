from typing import Any

def encode(
    labels: Any, size: int, signed: bool, low: int, shift: int, counts: Any, codes: Any,
    code_size: int, /
) -> None: ...  # fmt: skip
def group(labels: Any, size: int, codes: Any, firsts: Any, /) -> int: ...
def translate(codes: Any, table: Any, out: Any, size: int, /) -> None: ...
def count_pairs(
    a: Any, size: int, b: Any, other: int, rows: int, columns: int, weights: Any, table: Any, /
) -> None: ...
