"""Work on several threads: the order of results, and when no thread is started."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from liftcluster._util import threads
from liftcluster._util.threads import map_in_order


@pytest.mark.parametrize("uses_blas", [False, True])
def test_results_come_in_the_order_of_the_items(monkeypatch, uses_blas):
    monkeypatch.setattr(threads, "n_threads", lambda: 3)
    found = map_in_order(lambda i: (i, threading.get_ident()), list(range(20)), uses_blas=uses_blas)
    order, where = zip(*found, strict=True)
    assert order == tuple(range(20))
    assert threading.get_ident() not in where


@pytest.mark.parametrize("uses_blas", [False, True])
def test_one_item_starts_no_thread(monkeypatch, uses_blas):
    monkeypatch.setattr(threads, "n_threads", lambda: 3)
    found = map_in_order(lambda _: threading.get_ident(), [7], uses_blas=uses_blas)
    assert list(found) == [threading.get_ident()]


def test_one_item_computes_matrix_products_with_one_thread():
    inside = map_in_order(lambda _: threads._limit._inside, [7], uses_blas=True)
    assert list(inside) == [1]
    assert threads._limit._inside == 0


def test_one_blas_thread_restores_the_limits_of_before():
    def limits():
        return [(lib["user_api"], lib["num_threads"]) for lib in threadpool_info()]

    with threadpool_limits(2):
        before = limits()
        with threads.one_blas_thread(), threads.one_blas_thread():
            inside = limits()
        assert limits() == before
    assert inside == [(api, 1 if api == "blas" else n) for api, n in before]
