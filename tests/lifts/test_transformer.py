"""Scikit-learn transformers as lifts: text, counts, frames, and features that are refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import liftcluster as lc
from support.generators import blobs
from support.texts import TEXTS, A, B


def test_a_transformer_is_a_lift_and_is_not_fitted_again():
    X, labels = blobs(np.random.default_rng(0), 200, 4)
    nystroem = Nystroem(gamma=0.1, n_components=50, random_state=0).fit(X[:100])
    rep = lc.represent(X, labels, lift=nystroem)
    Z = nystroem.transform(X)
    np.testing.assert_allclose(rep.sums, np.eye(4)[labels].T @ Z, atol=1e-10)
    assert rep.distance_errors() is None


def test_text_is_lifted_by_a_vectoriser():
    texts = ["the cat sat", "the cat ran", "stocks fell", "stocks rose"]
    rep = lc.represent(
        texts, ["pet", "pet", "money", "money"], lift=HashingVectorizer(n_features=64)
    )
    assert rep.n_components == 64
    assert rep.distances()[0, 1] > 1


def test_text_is_lifted_by_a_function():
    def shared_letters(A, B):
        return np.array([[len(set(a) & set(b)) for b in B] for a in A])

    words = ["tea", "eat", "ate", "zoo", "ooz"]
    labels = [0, 0, 1, 2, 2]
    for lift in ("exact", "nystroem"):
        rep = lc.represent(words, labels, kernel=shared_letters, lift=lift, rng=0)
        np.testing.assert_allclose(rep.distances()[0], [0, 0, np.sqrt(2)], atol=1e-7)


def test_counts_are_summed_as_numbers_not_modulo():
    ones = FunctionTransformer(lambda X: np.ones((len(X), 1), dtype=np.uint8))
    rep = lc.represent(np.zeros((600, 1)), [0] * 600, lift=ones)
    assert rep.sums[0, 0] == 600


def test_integer_features_take_fractional_weights_memberships_and_scores():
    floats = CountVectorizer(dtype=float)
    for integers, same in ((CountVectorizer(), floats),):
        a = lc.represent(TEXTS, A, lift=integers, weights=[1.7, 1, 1, 1, 1, 1])
        b = lc.represent(TEXTS, A, lift=same, weights=[1.7, 1, 1, 1, 1, 1])
        np.testing.assert_allclose(a.sums, b.sums)
        assert a.sums.max() % 1 != 0
        w, v = (
            lc.compare(A, B, TEXTS, lift=lift, measures="lift_emd").witness()
            for lift in (integers, same)
        )
        np.testing.assert_allclose(w, v)
        assert w.max() > 0.1


def test_sparse_features_can_be_permuted():
    for lift in (CountVectorizer(), HashingVectorizer(n_features=32)):
        assert len(lc.significance(A, B, TEXTS, lift=lift, n_permutations=5, rng=0).null) == 5


def test_frames_do_not_confuse_a_transformer():
    X, labels = blobs(np.random.default_rng(0), 40, 2)
    frame = pd.DataFrame(X, columns=["u", "v"])
    expected = lc.distance(labels, labels % 2, X, lift=StandardScaler())
    assert lc.distance(labels, labels % 2, frame, lift=StandardScaler()) == pytest.approx(expected)
    fitted = StandardScaler().fit(frame)
    assert lc.distance(labels, labels % 2, frame, lift=fitted) == pytest.approx(expected)


@pytest.mark.parametrize("bad", [lambda X: X * np.nan, lambda X: X[:, 0]])
def test_features_that_are_not_finite_rows_are_refused(bad):
    with pytest.raises(ValueError, match="must return finite features"):
        lc.represent(np.ones((4, 2)), [0, 0, 1, 1], lift=FunctionTransformer(bad))


def test_sparse_points_are_refused_with_a_word():
    with pytest.raises(TypeError, match=r"use X.toarray\(\)"):
        lc.represent(sp.csr_array(np.eye(4)), [0, 0, 1, 1], lift=StandardScaler(with_mean=False))
