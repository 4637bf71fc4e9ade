"""Settings for all tests."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    deadline=None,  # machines are noisy
    max_examples=2000 if os.environ.get("LIFTCLUSTER_TESTS") == "long" else 40,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")
