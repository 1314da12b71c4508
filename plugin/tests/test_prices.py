"""Costs against sums done by hand."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_touchstone.llm.prices import Prices
from pytest_touchstone.settings import PriceSettings
from pytest_touchstone.trace import Usage

OWN = {
    "own": PriceSettings(input=3.0, cached_input=0.3, output=15.0),
    "plain": PriceSettings(input=0.1, output=0.2),
}


def prices(provider: str = "openai") -> Prices:
    return Prices(OWN, provider, date(2026, 11, 1))


def test_the_settings_prices_are_per_million_tokens_and_cached_input_has_its_own() -> None:
    # 600 fresh at 3 + 400 cached at 0.3 + 50 out at 15 = 1800 + 120 + 750 millionths.
    assert prices().cost([Usage("own", 1000, 400, 50)]) == (0.00267, None)


def test_cached_input_costs_what_input_costs_where_nothing_else_is_said() -> None:
    # 1000 at 0.1 + 50 at 0.2 = 110 millionths, and no binary rounding on the way.
    assert prices().cost([Usage("plain", 1000, 400, 50)]) == (0.00011, None)


def test_the_table_knows_openai_models_and_their_cached_price() -> None:
    # gpt-4o-mini: 0.15, cached 0.075, out 0.60: 600*0.15 + 400*0.075 + 10*0.6 = 126 millionths.
    assert prices().cost([Usage("gpt-4o-mini", 1000, 400, 10)]) == (0.000126, None)


def test_the_table_charges_cached_tokens_as_input_where_it_has_no_price_for_them() -> None:
    # gpt-4: 30 in, 60 out: 1000*30 + 10*60 = 30600 millionths.
    table = prices()
    assert table.cost([Usage("gpt-4", 1000, 400, 10)]) == (0.0306, None)
    assert table.used()[0]["cached_input"] == 30.0


def test_a_price_with_tiers_goes_by_the_input_of_the_call() -> None:
    # gemini-2.5-pro: up to 200,000 input tokens 1.25 and 10, above 2.50 and 15.
    table = prices("google")
    assert table.cost([Usage("gemini-2.5-pro", 200_000, 0, 1000)]) == (0.26, None)
    assert table.cost([Usage("gemini-2.5-pro", 200_001, 0, 1000)]) == (0.5150025, None)
    assert table.used()[0]["input"] == {"base": 1.25, "above": {"200000": 2.5}}


def test_several_calls_add_up_and_none_cost_nothing() -> None:
    calls = [Usage("own", 1000, 400, 50), Usage("plain", 1000, 0, 50)]
    assert prices().cost(calls) == (0.00278, None)
    assert prices().cost([]) == (0.0, None)


def test_what_is_not_known_is_not_zero() -> None:
    assert prices().cost(None) == (None, "no_usage")
    assert prices().cost([Usage("no-such-model", 1)]) == (None, "no_price")
    assert prices().cost([Usage("own", 10), Usage("no-such-model", 1)]) == (None, "no_price")
    assert prices("no-such-provider").cost([Usage("gpt-4o-mini", 1)]) == (None, "no_price")


@pytest.mark.parametrize(
    "usage", [Usage("own", 10, 11), Usage("own", -1), Usage("own", 1, 0, -1), Usage("own", 1, -1)]
)
def test_numbers_that_cannot_be_counts_are_no_usage(usage: Usage) -> None:
    assert prices().cost([usage]) == (None, "no_usage")


def test_the_settings_win_over_the_table() -> None:
    own = Prices({"gpt-4o-mini": PriceSettings(input=1, output=1)}, "openai")
    assert own.cost([Usage("gpt-4o-mini", 500_000, 0, 500_000)]) == (1.0, None)
    assert own.used()[0]["source"] == "settings"


def test_prices_used_are_stamped_for_the_report() -> None:
    table = prices()
    table.cost([Usage("own", 1), Usage("gpt-4o-mini", 1), Usage("gpt-4o-mini", 2)])
    from_table, from_settings = table.used()
    assert from_settings == {
        "model": "own",
        "input": 3.0,
        "cached_input": 0.3,
        "output": 15.0,
        "source": "settings",
        "date": "2026-11-01",
        "comment": None,
    }
    assert (from_table["model"], from_table["input"], from_table["output"]) == (
        "gpt-4o-mini",
        0.15,
        0.6,
    )
    assert from_table["source"].startswith("genai-prices ")
    assert len(from_table["source"].rpartition(" ")[2]) == 64


counts = st.integers(0, 10**7)


@given(counts, counts, counts)
def test_a_cost_is_never_negative_and_caching_never_makes_it_dearer(a: int, b: int, c: int) -> None:
    whole, cached = max(a, b), min(a, b)
    with_cache, _ = prices().cost([Usage("own", whole, cached, c)])
    without, _ = prices().cost([Usage("own", whole, 0, c)])
    assert with_cache is not None
    assert without is not None
    assert 0 <= with_cache <= without
