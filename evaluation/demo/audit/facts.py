"""The audit world: who was audited, when, and what was found.  All of it is invented.

Every figure is drawn from the hash of its own key, so that a fact depends on nothing but that
key: neither on an order of drawing nor on a version of Python's ``random``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

Kind = Literal["district", "city", "ministry"]
Value = int | str

YEARS = ("2019", "2020", "2021", "2022", "2023")
"""A year is named by the calendar year in which it ends: ``"2022"`` is FY 2021/22."""

DISTRICTS = (
    "Amolatar",
    "Amuria",
    "Amuru",
    "Arua",
    "Bushenyi",
    "Gulu",
    "Iganga",
    "Kabale",
    "Kabarole",
    "Kasese",
    "Kibaale",
    "Kitgum",
    "Lira",
    "Masindi",
    "Mbarara",
    "Moroto",
    "Moyo",
    "Nebbi",
    "Pallisa",
    "Tororo",
)
CITIES = ("Arua", "Gulu", "Lira", "Mbarara")
FIRST_CITY_YEAR = "2021"
MINISTRIES = {
    "maaif": "Ministry of Agriculture, Animal Industry and Fisheries",
    "moes": "Ministry of Education and Sports",
    "mofped": "Ministry of Finance, Planning and Economic Development",
    "moh": "Ministry of Health",
    "mlhud": "Ministry of Lands, Housing and Urban Development",
    "molg": "Ministry of Local Government",
    "mowt": "Ministry of Works and Transport",
    "mwe": "Ministry of Water and Environment",
}


@dataclass(frozen=True, slots=True)
class Entity:
    """An audited body.  ``key`` is ``gulu-d`` (district), ``gulu-c`` (city) or ``moh``."""

    key: str
    kind: Kind
    name: str

    @property
    def label(self) -> str:
        """The name in full, as a report writes it."""
        endings = {"district": " District Local Government", "city": " City Council"}
        return self.name + endings.get(self.kind, "")

    @property
    def short(self) -> str:
        """The name as tables and headers write it."""
        return {"district": f"{self.name} DLG", "city": f"{self.name} City"}.get(
            self.kind, self.key.upper()
        )

    @property
    def officer(self) -> str:
        """The title of the accounting officer."""
        return {"district": "Chief Administrative Officer", "city": "Town Clerk"}.get(
            self.kind, "Permanent Secretary"
        )


ENTITIES: Mapping[str, Entity] = {
    entity.key: entity
    for entity in (
        *(Entity(f"{name.lower()}-d", "district", name) for name in DISTRICTS),
        *(Entity(f"{name.lower()}-c", "city", name) for name in CITIES),
        *(Entity(key, "ministry", name) for key, name in MINISTRIES.items()),
    )
}


class Figure(NamedTuple):
    """A figure of a finding: ``low`` to ``high``; ``ugx`` counts millions of shillings."""

    name: str
    low: int
    high: int
    ugx: bool = False


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of finding.

    :param figures: the figures it comes with; the first is the one by which bodies are ranked.
    :param rest: (name of a part, name of the whole): the whole is the part plus its own draw.
    :param years: the years in which the category exists.
    """

    key: str
    figures: tuple[Figure, ...]
    rest: tuple[str, str] | None = None
    years: tuple[str, ...] = YEARS


LOCAL: Mapping[str, Category] = {
    category.key: category
    for category in (
        Category(
            "payroll",
            (Figure("amount", 21, 940, True), Figure("staff", 6, 148)),
        ),
        Category("procurement", (Figure("amount", 64, 2650, True), Figure("files", 3, 58))),
        Category(
            "advances",
            (
                Figure("amount", 23, 960, True),
                Figure("officers", 4, 71),
                Figure("recovered", 2, 19, True),
            ),
        ),
        Category(
            "land", (Figure("untitled", 7, 160), Figure("plots", 4, 90)), ("untitled", "plots")
        ),
        Category(
            "drugs",
            (Figure("days", 18, 171), Figure("facilities", 4, 23), Figure("expired", 3, 139, True)),
        ),
        Category(
            "pdm",
            (Figure("amount", 110, 3300, True), Figure("saccos", 4, 63)),
            years=("2022", "2023"),
        ),
        Category(
            "livelihood",
            (Figure("amount", 58, 890, True), Figure("groups", 12, 164)),
            years=("2019", "2020", "2021"),
        ),
        Category(
            "schools",
            (Figure("inspected", 16, 120), Figure("schools", 12, 95)),
            ("inspected", "schools"),
        ),
        Category(
            "water", (Figure("broken", 19, 260), Figure("points", 150, 720)), ("broken", "points")
        ),
        Category(
            "revenue",
            (Figure("shortfall", 48, 990, True), Figure("budget", 130, 1900, True)),
            ("shortfall", "budget"),
        ),
        Category("absorption", (Figure("amount", 90, 4200, True), Figure("projects", 2, 17))),
        Category(
            "staffing", (Figure("vacant", 60, 640), Figure("posts", 240, 1500)), ("vacant", "posts")
        ),
        Category(
            "roads", (Figure("missed", 12, 170), Figure("planned", 25, 260)), ("missed", "planned")
        ),
    )
}
"""Findings in districts and cities."""

CENTRAL: Mapping[str, Category] = {
    category.key: category
    for category in (
        Category("payroll", (Figure("amount", 31, 1400, True), Figure("staff", 5, 96))),
        Category("advances", (Figure("amount", 80, 2900, True), Figure("officers", 6, 120))),
        Category("arrears", (Figure("amount", 450, 98000, True), Figure("suppliers", 5, 160))),
        Category("procurement", (Figure("contracts", 3, 41), Figure("amount", 300, 38000, True))),
        Category("absorption", (Figure("amount", 900, 64000, True), Figure("projects", 2, 14))),
        Category("mischarge", (Figure("amount", 150, 9700, True), Figure("votes", 3, 29))),
        Category(
            "vehicles", (Figure("grounded", 5, 88), Figure("fleet", 20, 190)), ("grounded", "fleet")
        ),
        Category(
            "land", (Figure("untitled", 3, 70), Figure("plots", 5, 60)), ("untitled", "plots")
        ),
    )
}
"""Findings in ministries."""

REASONS: Mapping[str, Sequence[str]] = {
    "payroll": (
        "delays by the Ministry of Public Service to act on pay change reports",
        "late notification of deaths and abscondments by heads of schools and health units",
        "frequent breakdowns of the payroll system",
        "the absence of a substantive Principal Human Resource Officer",
    ),
    "procurement": (
        "emergencies caused by floods",
        "understaffing in the Procurement and Disposal Unit",
        "user departments that submitted their requests late",
        "the loss of files during the relocation of the offices",
    ),
    "advances": (
        "officers who had been transferred without handing over",
        "lack of sensitisation of the officers on accountability requirements",
        "field activities that were still in progress at year end",
        "misplacement of the vouchers in the finance department",
    ),
    "land": (
        "boundary disputes with neighbouring communities",
        "the absence of a functional District Land Board",
        "the high cost of surveying and processing titles",
        "encroachers who had obtained court injunctions",
    ),
    "drugs": (
        "late and partial deliveries by the National Medical Stores",
        "an increased number of patients from neighbouring areas",
        "poor quantification of needs by the health facilities",
        "a reduced budget for essential medicines",
    ),
    "pdm": (
        "late release of the funds by the Ministry of Finance",
        "failure of the enterprise groups to open bank accounts",
        "incomplete registration of households in the information system",
        "network failures that affected the financial inclusion module",
    ),
    "livelihood": (
        "crop failure after the prolonged drought",
        "groups that had disintegrated after receiving the money",
        "the belief among beneficiaries that the money was a gift from Government",
        "the closure of the weekly markets",
    ),
    "schools": (
        "lack of vehicles and motorcycles for the inspectors",
        "late release of the inspection grant",
        "the closure of schools because of an outbreak of disease",
        "only two inspectors being in post",
    ),
    "water": (
        "vandalism of pump parts",
        "inactive water user committees that collect no fees",
        "a falling water table",
        "corroded pipes that need replacement",
    ),
    "revenue": (
        "political interference in the collection of taxes",
        "closure of markets due to a cattle quarantine",
        "an outdated valuation roll",
        "revenue collectors who banked late",
    ),
    "absorption": (
        "delayed release of funds in the fourth quarter",
        "procurements that were initiated late",
        "failure to recruit staff for whom wages had been released",
        "contractors who abandoned the sites",
    ),
    "staffing": (
        "an insufficient wage bill",
        "failure to attract medical doctors and engineers",
        "the absence of a fully constituted Service Commission",
        "a ban on recruitment",
    ),
    "roads": (
        "breakdown of the only grader",
        "heavy rains that washed away culverts",
        "budget cuts by the Road Fund",
        "lack of a supervision vehicle",
    ),
    "arrears": (
        "court awards that had not been budgeted for",
        "budget cuts during the year",
        "rent that had accrued over several years",
        "goods ordered above the quarterly cash limits",
    ),
    "mischarge": (
        "emergencies that could not wait for a supplementary budget",
        "insufficient codes in the chart of accounts",
        "inadequate releases on the proper item",
    ),
    "vehicles": (
        "the high cost of spare parts",
        "a delayed valuation by the Chief Mechanical Engineer",
        "inadequate maintenance budgets",
    ),
}

ADVICE: Mapping[str, Sequence[str]] = {
    "payroll": (
        "reconcile the payroll with the staff list every month and recover the money paid",
        "have the names deleted without delay and recover the sums from the responsible officers",
        "submit deletions to the Ministry of Public Service within seven days of a separation",
    ),
    "procurement": (
        "update the procurement plan quarterly and keep complete files for all procurements",
        "staff the Procurement and Disposal Unit fully and hold user departments to the plan",
    ),
    "advances": (
        "recover the outstanding sums from the salaries of the officers concerned",
        "stop further advances to any officer with an earlier balance",
    ),
    "land": (
        "budget for the survey and titling of all public land",
        "work with the Uganda Land Commission to secure titles and evict encroachers",
    ),
    "drugs": (
        "submit procurement plans for medicines in time and redistribute stock between facilities",
        "keep stock cards up to date and arrange for the destruction of expired items",
    ),
    "pdm": (
        "complete the vetting of the savings cooperatives so that the money reaches the households",
        "train the parish chiefs and speed up registration of the enterprise groups",
    ),
    "livelihood": (
        "engage the Resident District Commissioner and the police to enforce recovery",
        "review the groups before further disbursement and write to defaulters",
    ),
    "schools": (
        "fund inspection sufficiently and see that each school is visited once a term",
        "recruit inspectors and provide them with transport",
    ),
    "water": (
        "budget for rehabilitation and revive the water user committees",
        "train hand pump mechanics and stock spare parts",
    ),
    "revenue": (
        "set realistic targets and widen the tax base",
        "automate collection and update the register of tax payers",
    ),
    "absorption": (
        "start procurements early and seek authority to retain the funds",
        "plan with the release schedule in mind and supervise the contractors",
    ),
    "staffing": (
        "liaise with the Ministry of Public Service to have the critical posts filled",
        "prioritise the vacant positions in health and education",
    ),
    "roads": (
        "carry the unfinished roads over to the next work plan",
        "lobby for additional road equipment and monitor the gangs",
    ),
    "arrears": (
        "prioritise payment of the old debts and refrain from commitments without funds",
        "verify the claims and include them in the next budget",
    ),
    "mischarge": (
        "seek approval for reallocations before spending",
        "streamline the budgeting process so that each item is funded properly",
    ),
    "vehicles": (
        "board off the vehicles that are beyond repair",
        "set up a fleet management system and plan for repairs",
    ),
}


class Key(NamedTuple):
    """A finding: of one body, in one year, in one category."""

    entity: str
    year: str
    category: str


class Stated(NamedTuple):
    """One field of one finding, which a chunk may state."""

    key: Key
    field: str


THEMES: Mapping[str, tuple[str, ...]] = {
    "drugs": ("2021", "2023"),
    "land": ("2021",),
    "payroll": ("2021",),
    "pdm": ("2022", "2023"),
    "schools": ("2019", "2022"),
    "water": ("2019", "2023"),
}
"""Thematic audits and their years.  There is none for 2020."""

# (theme, topic) to the figures of the topic.
TOPICS: Mapping[str, Mapping[str, tuple[Figure, ...]]] = {
    "drugs": {
        "stockcards": (Figure("percent", 21, 68), Figure("facilities", 40, 180)),
        "deliveries": (Figure("late", 11, 64), Figure("cycles", 70, 160)),
        "redistribution": (Figure("amount", 140, 2600, True), Figure("districts", 5, 14)),
        "storage": (Figure("stores", 9, 39), Figure("visited", 44, 90)),
        "budget": (Figure("percent", 34, 78), Figure("amount", 3100, 48000, True)),
    },
    "land": {
        "register": (Figure("bodies", 11, 44), Figure("sampled", 46, 90)),
        "encroachment": (Figure("hectares", 210, 4800), Figure("sites", 13, 77)),
        "courts": (Figure("cases", 31, 240), Figure("amount", 900, 26000, True)),
        "fees": (Figure("amount", 120, 1900, True), Figure("applications", 60, 480)),
        "boards": (Figure("boards", 6, 41), Figure("months", 5, 31)),
    },
    "payroll": {
        "validation": (Figure("missing", 340, 2400), Figure("validated", 24000, 69000)),
        "birthdates": (Figure("staff", 210, 1900), Figure("districts", 6, 20)),
        "underpaid": (Figure("staff", 180, 1700), Figure("amount", 300, 3900, True)),
        "loans": (Figure("amount", 410, 7200, True), Figure("lenders", 7, 33)),
        "files": (Figure("percent", 9, 47), Figure("files", 300, 900)),
    },
    "pdm": {
        "staffing": (Figure("vacant", 240, 1500), Figure("parishes", 2600, 9800)),
        "ineligible": (Figure("households", 180, 2900), Figure("amount", 190, 3100, True)),
        "training": (Figure("percent", 17, 73), Figure("saccos", 80, 310)),
        "insurance": (Figure("percent", 3, 26), Figure("loans", 420, 3900)),
        "data": (Figure("households", 14000, 91000), Figure("parishes", 90, 720)),
    },
    "schools": {
        "reports": (Figure("percent", 19, 71), Figure("schools", 110, 420)),
        "absent": (Figure("percent", 8, 37), Figure("schools", 60, 240)),
        "funds": (Figure("amount", 210, 2600, True), Figure("districts", 5, 17)),
        "latrines": (Figure("schools", 24, 170), Figure("pupils", 62, 148)),
        "inspectors": (Figure("inspectors", 31, 210), Figure("schools", 76, 190)),
    },
    "water": {
        "quality": (Figure("failed", 21, 140), Figure("tested", 180, 520)),
        "committees": (Figure("percent", 22, 81), Figure("sources", 150, 460)),
        "sites": (Figure("dry", 9, 61), Figure("drilled", 70, 240)),
        "mechanics": (Figure("mechanics", 14, 96), Figure("subcounties", 100, 340)),
        "cost": (Figure("amount", 18, 39, True), Figure("boreholes", 40, 190)),
    },
}


def draw(*key: str, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high`` that depends on the key alone."""
    digest = hashlib.sha256("|".join(("audit", *key)).encode()).digest()
    return low + int.from_bytes(digest[:8], "big") % (high - low + 1)


def chance(*key: str, percent: int) -> bool:
    """True for about ``percent`` of all keys."""
    return draw(*key, low=0, high=99) < percent


def pick(options: Sequence[str], *key: str) -> str:
    """One of the options."""
    return options[draw(*key, low=0, high=len(options) - 1)]


def categories(entity: Entity) -> Mapping[str, Category]:
    """The categories of findings that the body can have."""
    return CENTRAL if entity.kind == "ministry" else LOCAL


def existed(entity: Entity, year: str) -> bool:
    """Whether the body existed in the year: cities are younger than districts."""
    return entity.kind != "city" or year >= FIRST_CITY_YEAR


def has_report(entity: Entity, year: str) -> bool:
    """Whether the body's own report of the year is in the corpus."""
    share = {"district": 54, "city": 92, "ministry": 72}[entity.kind]
    return existed(entity, year) and chance("report", entity.key, year, percent=share)


@cache
def finding(key: Key) -> Mapping[str, Value] | None:
    """The fields of a finding, or ``None`` where there was none."""
    entity = ENTITIES[key.entity]
    category = categories(entity).get(key.category)
    if category is None or not existed(entity, key.year) or key.year not in category.years:
        return None
    if entity.kind == "city" and key.category == "water":
        return None  # cities have piped water
    share = 62 if entity.kind == "ministry" else 63
    if not chance("finding", *key, percent=share):
        return None
    values: dict[str, Value] = {
        figure.name: draw("figure", *key, figure.name, low=figure.low, high=figure.high)
        for figure in category.figures
    }
    if category.rest:
        part, whole = category.rest
        values[whole] = int(values[part]) + int(values[whole])
    if key.category == "revenue":
        values["collected"] = int(values["budget"]) - int(values["shortfall"])
    if key.category == "roads":
        values["done"] = int(values["planned"]) - int(values["missed"])
    if key.category == "advances" and entity.kind != "ministry":
        values["recovered"] = int(values["amount"]) * int(values["recovered"]) // 25 + 1
    values["reason"] = pick(REASONS[key.category], "reason", *key)
    values["advice"] = pick(ADVICE[key.category], "advice", *key)
    return values


@cache
def topic(key: Key) -> Mapping[str, Value]:
    """The fields of a thematic finding; its entity is ``theme-<theme>``."""
    figures = TOPICS[key.entity.removeprefix("theme-")][key.category]
    return {
        figure.name: draw("topic", *key, figure.name, low=figure.low, high=figure.high)
        for figure in figures
    }


def local_findings(year: str, category: str) -> Mapping[str, Mapping[str, Value]]:
    """Body to finding, of all districts and cities that had one in the year."""
    found = {
        entity.key: finding(Key(entity.key, year, category))
        for entity in ENTITIES.values()
        if entity.kind != "ministry"
    }
    return {name: values for name, values in found.items() if values is not None}


@cache
def national(key: Key) -> Mapping[str, Value] | None:
    """Sums over districts and cities; the entity is ``national``."""
    rows = local_findings(key.year, key.category)
    if not rows:
        return None
    names = [figure.name for figure in LOCAL[key.category].figures]
    values: dict[str, Value] = {
        name: sum(int(row[name]) for row in rows.values()) for name in names
    }
    values["bodies"] = len(rows)
    first = names[0]
    values["top"] = max(rows, key=lambda name: (int(rows[name][first]), name))
    values["top_figure"] = rows[str(values["top"])][first]
    return values


@cache
def opinions(year: str) -> Mapping[str, Value]:
    """How many opinions of each kind were issued; the entity is ``national``."""
    qualified = draw("opinions", year, "qualified", low=14, high=61)
    adverse = draw("opinions", year, "adverse", low=1, high=6)
    clean = draw("opinions", year, "clean", low=210, high=330)
    return {
        "clean": clean,
        "qualified": qualified,
        "adverse": adverse,
        "audited": clean + qualified + adverse,
    }


def fact(key: Key) -> Mapping[str, Value]:
    """The fields of any finding: of a body, of a theme, or national.

    :raises KeyError: there is no such finding.
    """
    if key.entity.startswith("theme-"):
        found: Mapping[str, Value] | None = topic(key)
    elif key.entity == "national" and key.category == "opinions":
        found = opinions(key.year)
    elif key.entity == "national":
        found = national(key)
    else:
        found = finding(key)
    if found is None:
        raise KeyError(f"no finding {'/'.join(key)}")
    return found


def is_ugx(key: Key, name: str) -> bool:
    """Whether the field counts millions of shillings."""
    if key.entity.startswith("theme-"):
        figures = TOPICS[key.entity.removeprefix("theme-")][key.category]
    elif key.category == "opinions":
        return False
    else:
        table = LOCAL if key.entity == "national" else categories(ENTITIES[key.entity])
        figures = table[key.category].figures
        if name == "top_figure":
            name = figures[0].name
    return name == "collected" or any(figure.ugx for figure in figures if figure.name == name)


def shown(key: Key, name: str) -> str:
    """A field as running text writes it."""
    value = fact(key)[name]
    if isinstance(value, str):
        return ENTITIES[value].label if name == "top" else value
    if not is_ugx(key, name):
        return f"{value:,}"
    return f"UGX {value} million" if value < 1000 else f"UGX {value / 1000:,.3f} billion"


def fiscal_year(year: str) -> str:
    """``FY 2021/22`` for ``"2022"``."""
    return f"FY {int(year) - 1}/{year[2:]}"
