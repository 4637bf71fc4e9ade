"""Checks of single values: results, errors and suggestions."""

import numpy as np
import pytest

from liftcluster._util.checks import (
    check_bandwidth_rule,
    check_choice,
    check_count,
    check_options,
    check_positive,
    checked_keywords,
)


@checked_keywords
def lift(points, *, bandwidth=1.0, lift="auto"):
    """Lift."""
    return points, bandwidth, lift


def test_keywords_are_passed_to_the_function():
    assert lift(3, bandwidth=2.0) == (3, 2.0, "auto")
    assert lift(points=3) == (3, 1.0, "auto")
    assert (lift.__name__, lift.__doc__) == ("lift", "Lift.")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("bandwith", r"^lift\(\) has no argument 'bandwith'; did you mean 'bandwidth'\?$"),
        ("lifts", r"did you mean 'lift'\?$"),
        ("xyz", r"^lift\(\) has no argument 'xyz'$"),
    ],
)
def test_a_misspelled_keyword_gets_a_suggestion(given, message):
    with pytest.raises(TypeError, match=message):
        lift(3, **{given: 1})


def test_other_errors_in_a_call_are_those_of_python():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        lift(bandwidth=1.0)
    with pytest.raises(TypeError, match="positional argument"):
        lift(1, 2)


def test_choice_must_be_one_of_the_given_names():
    assert check_choice("vi", {"rand": 1, "vi": 2}, "measure") == "vi"
    with pytest.raises(
        ValueError, match=r"^measure must be one of rand, vi; got 'ran'; did you mean 'rand'\?$"
    ):
        check_choice("ran", ["rand", "vi"], "measure")
    for other in ("xyz", 3, None, ["vi"], np.array(["vi"])):
        with pytest.raises(ValueError, match=r"must be one of rand, vi; got .*[^?]$"):
            check_choice(other, ["rand", "vi"], "measure")


@pytest.mark.parametrize(
    ("options", "accepted", "message"),
    [
        (
            {"bin": 3},
            ["bins"],
            r"^adco has no option 'bin'; did you mean 'bins'\?; its options are bins$",
        ),
        (
            {"bins": 3, "xyz": 1},
            ["bins", "alpha"],
            r"no option 'xyz'; its options are bins, alpha$",
        ),
        ({"bins": 3}, [], "no option 'bins'; it has none$"),
    ],
)
def test_an_unknown_option_gets_a_suggestion(options, accepted, message):
    with pytest.raises(ValueError, match=message):
        check_options(options, accepted, "adco")


def test_known_options_and_none_are_accepted():
    for options in (None, {}, {"bins": 3}):
        check_options(options, ["bins"], "adco")


def test_counts_and_positive_numbers_are_validated():
    assert check_count(np.int32(3), "k") == 3
    assert check_positive(np.float32(0.5), "tol") == 0.5
    for value in (True, 2.5, "3", None):
        with pytest.raises(TypeError, match="k must be"):
            check_count(value, "k")
    with pytest.raises(ValueError, match="k must be at least 2, got 1"):
        check_count(1, "k", least=2)
    for value in (0, -1.0, np.inf, np.nan, 10**400):
        with pytest.raises(ValueError, match="tol must be positive and finite"):
            check_positive(value, "tol")


def test_a_bandwidth_rule_has_a_name_and_a_factor():
    assert check_bandwidth_rule("median") == ("median", 1.0)
    assert check_bandwidth_rule("median/4") == ("median", 0.25)
    assert check_bandwidth_rule("scott*2.5") == ("scott", 2.5)
    for rule in ("medan", "median/", "median/0", "median*-1", 3, None):
        with pytest.raises(ValueError, match="bandwidth rule"):
            check_bandwidth_rule(rule)
