"""Clusterings for the tests of the report: real ones, and ones with hostile names."""

import base64

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris

import liftcluster as lc

X = load_iris().data
CLUSTERINGS = {
    "species": load_iris().target,
    "k-means": KMeans(3, n_init=1, random_state=0).fit(X).labels_,
    "Ward": AgglomerativeClustering(4).fit(X).labels_,
    "single": AgglomerativeClustering(3, linkage="single").fit(X).labels_,
}
NAMES = list(CLUSTERINGS)

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted' & </script><img src=x onerror=alert(2)>",
    "{{7*7}} ${title} $script %s",
    "<a href='javascript:alert(3)'>link</a><b>bold</b>",
    "שלום עולם\u202e evil",
    "📊🧪👩‍🔬 emoji",
    "two\nlines\u2028and more",
    "very long " + "name" * 100,
]


def hostile_report(**options):
    rng = np.random.default_rng(0)
    labels = {name: np.array(HOSTILE)[rng.integers(len(HOSTILE), size=60)] for name in HOSTILE}
    points = rng.standard_normal((60, 3))
    return lc.make_report(labels, points, title=HOSTILE[0] + HOSTILE[1], rng=0, **options)


def unpacked(packed):
    """An array from the base64 of a page."""
    dtype = np.dtype(packed["dtype"]).newbyteorder("<")
    return np.frombuffer(base64.b64decode(packed["base64"]), dtype)
