from typing import Any

def instruction_sets() -> list[str]: ...
def use(name: str, /) -> None: ...
def in_use() -> str: ...
def sums(
    double: bool, map: Any, X: Any, start: int, stop: int, members: Any, out: Any, /
) -> int: ...
def scores(
    double: bool, map: Any, X: Any, start: int, stop: int, vectors: Any, k: int, out: Any, /
) -> int: ...
def assign(
    double: bool, map: Any, X: Any, start: int, stop: int, vectors: Any, k: int, units: Any,
    weights: Any, scores: Any, sums: Any, /
) -> int: ...  # fmt: skip
def nearest(
    double: bool, n: int, p: int, d: int, k: int, values: Any, limits: Any, factor: float,
    points: Any, places: Any, positions: Any, squares: Any, /
) -> None: ...  # fmt: skip
def features(double: bool, map: Any, X: Any, start: int, stop: int, out: Any, /) -> int: ...
