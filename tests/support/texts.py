"""Six short texts and two partitions of them."""

TEXTS = ["aa bb", "aa cc", "dd ee", "dd ff ff", "aa bb cc", "dd ee"]
A, B = [0, 0, 1, 1, 0, 1], [0, 1, 1, 1, 0, 0]
