"""Scales, units and currencies of quantities, English and Swedish."""

from __future__ import annotations

from collections.abc import Mapping

SCALES: Mapping[str, float] = {
    word: scale
    for scale, words in (
        (1e3, "thousand thousands tusen k tkr ksek tsek"),
        (1e4, "万 萬"),
        (1e5, "lakh lakhs"),
        (1e6, "million millions mn mln m miljon miljoner miljonerna milj mkr mnkr msek meur musd"),
        (1e7, "crore crores"),
        (1e8, "亿 億"),
        (1e9, "billion billions bn bln b miljard miljarder miljarderna md mdr mdkr mdsek"),
        (1e12, "trillion trillions tn trn biljon biljoner"),
    )
    for word in words.split()
}
"""Words after a number that multiply it.  ``m`` is millions only after a currency."""

_UNITS = (
    ("UGX", 1, "ugx ush ushs shs shilling shillings shilings shillingarna"),
    ("SEK", 1, "sek kr kronor krona kronorna"),
    ("USD", 1, "usd us$ $ dollar dollars"),
    ("EUR", 1, "eur € euro euros"),
    ("GBP", 1, "gbp £ pound pounds pund"),
    ("KES", 1, "kes ksh kshs"),
    ("TZS", 1, "tzs tsh"),
    ("JPY", 1, "jpy ¥ yen"),
    ("NOK", 1, "nok"),
    ("DKK", 1, "dkk"),
    ("CHF", 1, "chf francs"),
    ("INR", 1, "inr rupees rupee"),
    ("%", 1, "% percent pct procent procenten %-ig"),
    ("%", 0.1, "‰ promille"),
    ("percentage points", 1, "pp procentenheter procentenhet procentenheterna %-enheter %-enhet"),
    ("metres", 1, "m metre metres meter meters"),
    ("metres", 1000, "km kms kilometre kilometres kilometer kilometers"),
    ("metres", 10000, "mil"),
    ("metres", 0.01, "cm centimetre centimetres centimeter centimeters"),
    ("metres", 0.001, "mm millimetre millimetres millimeter millimeters"),
    ("metres", 1609.344, "mile miles"),
    ("metres", 0.3048, "feet foot ft fot"),
    ("hectares", 1, "ha hectare hectares hektar"),
    ("hectares", 0.40468564, "acre acres"),
    ("hectares", 100, "km² km2"),
    ("grams", 1, "g gram grams"),
    ("grams", 1e3, "kg kgs kilo kilos kilogram kilograms"),
    ("grams", 1e6, "tonne tonnes ton tons"),
    ("litres", 1, "l litre litres liter liters"),
    ("months", 1, "month months månad månader månaders mån"),
    ("months", 12, "year years yr yrs år"),
    ("months", 3, "quarter quarters kvartal"),
    ("days", 1, "day days dag dagar dygn"),
    ("days", 7, "week weeks vecka veckor veckors"),
    ("hours", 1, "hour hours h timme timmar"),
    ("hours", 1 / 60, "minute minutes min minut minuter"),
    ("hours", 1 / 3600, "second seconds sec sekund sekunder"),
    ("watts", 1e3, "kw kilowatt"),
    ("watts", 1e6, "mw megawatt megawatts"),
    ("watts", 1e9, "gw gigawatt gigawatts"),
    ("watt-hours", 1e3, "kwh kilowattimmar kilowattimme"),
    ("watt-hours", 1e6, "mwh megawattimmar"),
    ("watt-hours", 1e9, "gwh gigawattimmar"),
    ("watt-hours", 1e12, "twh terawattimmar"),
    ("bytes", 1e3, "kb kilobyte kilobytes"),
    ("bytes", 1e6, "mb megabyte megabytes"),
    ("bytes", 1e9, "gb gigabyte gigabytes"),
    ("bytes", 1e12, "tb terabyte terabytes"),
    ("degrees Celsius", 1, "°c celsius"),
    ("degrees Fahrenheit", 1, "°f fahrenheit"),
)

UNITS: Mapping[str, tuple[str, float]] = {
    **{word: (unit, float(factor)) for unit, factor, words in _UNITS for word in words.split()},
    "per cent": ("%", 1.0),
    "per mille": ("%", 0.1),
    "percentage point": ("percentage points", 1.0),
    "percentage points": ("percentage points", 1.0),
    "square kilometres": ("hectares", 100.0),
    "square kilometers": ("hectares", 100.0),
    "square kilometre": ("hectares", 100.0),
    "sq km": ("hectares", 100.0),
    "sq. km": ("hectares", 100.0),
    "kvadratkilometer": ("hectares", 100.0),
    "square metres": ("hectares", 1e-4),
    "square meters": ("hectares", 1e-4),
    "us dollars": ("USD", 1.0),
    "us dollar": ("USD", 1.0),
    "kenyan shillings": ("KES", 1.0),
    "ugandan shillings": ("UGX", 1.0),
    "tanzanian shillings": ("TZS", 1.0),
    "swedish kronor": ("SEK", 1.0),
    "swedish krona": ("SEK", 1.0),
    "svenska kronor": ("SEK", 1.0),
    "british pounds": ("GBP", 1.0),
}
"""Case-folded word after a number to its dimension and its size in that dimension's base unit."""

CURRENCY_SCALES: Mapping[str, str] = {
    **dict.fromkeys(["tkr", "mkr", "mnkr", "mdkr", "ksek", "tsek", "msek", "mdsek"], "SEK"),
    "meur": "EUR",
    "musd": "USD",
}
"""Scales that name a currency too."""

CURRENCIES = frozenset(
    ["UGX", "SEK", "USD", "EUR", "GBP", "KES", "TZS", "JPY", "NOK", "DKK", "CHF", "INR"]
)
"""The units that are money."""

CURRENCY_BEFORE = (
    r"UGX|USh|Ushs?\.?|Shs\.?|SEK|USD|US\$|EUR|GBP|KES|Kshs?|TZS|Tsh|JPY|NOK|DKK|CHF|INR|kr|[$€£¥]"
)
"""Regular expression of the currencies that stand before a number."""
