"""What LLM calls cost: the settings' own prices first, then the offline table of genai-prices.

Prices are those of one day, which stands in the report: the table knows price changes by date,
and a run that goes on past midnight must not change its prices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache
from typing import Any

from pytest_touchstone.score import NO_PRICE, NO_USAGE
from pytest_touchstone.settings import PriceSettings
from pytest_touchstone.trace import Usage

_MILLION = 1_000_000
_Rates = tuple[Any, Any, Any]
"""Price of input, of cached input and of output, each as JSON data."""


class Prices:
    """The prices of a run, in US dollars.

    :param own: prices from the settings, by model; they win over the table.
    :param provider: whose price list in genai-prices holds the other models.
    :param day: the day whose prices hold (UTC; at noon, where prices differ by hour); today.
    """

    def __init__(
        self, own: Mapping[str, PriceSettings], provider: str, day: date | None = None
    ) -> None:
        self._own = own
        self._provider = provider
        self._at = datetime.combine(day or datetime.now(UTC).date(), time(12), tzinfo=UTC)
        self._used: dict[str, dict[str, Any]] = {}
        # The table looks a model that it lacks up among all of its patterns, each time anew.
        self._unlisted: set[str] = set()

    def cost(self, usage: Sequence[Usage] | None) -> tuple[float | None, str | None]:
        """US dollars for these calls, or ``None`` and the reason (``no_usage``, ``no_price``).

        No calls cost nothing.  ``input_tokens`` includes the cached ones, which are charged at
        the price of cached input where there is one and as input otherwise.
        """
        if usage is None or not all(_is_count(one) for one in usage):
            return None, NO_USAGE
        costs = [self._cost_of(one) for one in usage]
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(costs):
            return None, NO_PRICE
        return float(sum(known, Decimal(0))), None

    def used(self) -> list[dict[str, Any]]:
        """The prices that were used so far, by model, for the report.

        Each: ``model``; ``input``, ``cached_input`` and ``output`` in US dollars per million
        tokens (for a price with tiers ``{"base", "above": {input tokens: price}}``); ``source``
        (``settings``, or the package with its version and the SHA-256 of its data); ``date``;
        ``comment`` of the price's authors, or ``None``.
        """
        return [self._used[model] for model in sorted(self._used)]

    def _cost_of(self, usage: Usage) -> Decimal | None:
        own = self._own.get(usage.model)
        return self._by_settings(own, usage) if own else self._by_table(usage)

    def _by_settings(self, own: PriceSettings, usage: Usage) -> Decimal:
        cached_input = own.input if own.cached_input is None else own.cached_input
        self._remember(usage.model, (own.input, cached_input, own.output), "settings", None)
        fresh = usage.input_tokens - usage.cached_input_tokens
        # Through str: 0.1 in the settings means a tenth, not the nearest binary fraction.
        total = (
            Decimal(str(own.input)) * fresh
            + Decimal(str(cached_input)) * usage.cached_input_tokens
            + Decimal(str(own.output)) * usage.output_tokens
        )
        return total / _MILLION

    def _by_table(self, usage: Usage) -> Decimal | None:
        if usage.model in self._unlisted:
            return None
        import genai_prices

        tokens = genai_prices.Usage(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_input_tokens,
            output_tokens=usage.output_tokens,
        )
        try:
            found = genai_prices.calc_price(
                tokens,
                usage.model,
                provider_id=self._provider,
                genai_request_timestamp=self._at,
            )
        except LookupError:
            self._unlisted.add(usage.model)
            return None
        price = found.model_price
        if price.input_mtok is None:
            return None
        cached_input = price.input_mtok if price.cache_read_mtok is None else price.cache_read_mtok
        rates = (_plain(price.input_mtok), _plain(cached_input), _plain(price.output_mtok))
        self._remember(usage.model, rates, _table_version(), found.model.price_comments)
        return found.total_price

    def _remember(self, model: str, rates: _Rates, source: str, comment: str | None) -> None:
        self._used[model] = {
            "model": model,
            **dict(zip(("input", "cached_input", "output"), rates, strict=True)),
            "source": source,
            "date": self._at.date().isoformat(),
            "comment": comment,
        }


def _is_count(usage: Usage) -> bool:
    """Whether the numbers can be token counts at all."""
    return 0 <= usage.cached_input_tokens <= usage.input_tokens and usage.output_tokens >= 0


def _plain(price: Any) -> Any:
    """A price of the table as JSON data."""
    if price is None or isinstance(price, Decimal):
        return None if price is None else float(price)
    return {
        "base": float(price.base),
        "above": {str(tier.start): float(tier.price) for tier in price.tiers},
    }


@cache
def _table_version() -> str:
    from importlib import resources
    from importlib.metadata import version

    data = resources.files("genai_prices").joinpath("data.py").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return f"genai-prices {version('genai-prices')}, data sha256 {digest}"
