"""What a judge is asked: one class a task, built from plain values, that reads the reply itself.

A task is a value.  It names its prompt, gives the data that fills it, and makes the verdict of a
reply, or says in one line why the reply is none.  Everything but the judgement comes from the
task, never from the reply: claims, key points and paragraphs are known by number, so that no reply
can change what was asked.  Numbers start at 1.

Untrusted text stands in JSON strings, one item a line, inside the blocks of a prompt
(`llm.prompts`): a text can neither leave its line nor pose as another item.
"""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar, get_args

from pytest_touchstone.judge.reading import (
    Label,
    Unreadable,
    listed,
    member,
    numbered,
    one_of,
    quoted,
    said,
    true_or_false,
    within,
)
from pytest_touchstone.paragraphs import Paragraph, sentences
from pytest_touchstone.trace import Behavior
from pytest_touchstone.verdicts import (
    BehaviourVerdict,
    CitationVerdict,
    ClaimLabel,
    Claims,
    ClaimVerdict,
    Coherence,
    CompletionLabel,
    Conversation,
    Coverage,
    FormLabel,
    ParagraphSupport,
    ParagraphVerdict,
    PassageVerdict,
    PointLabel,
    PointVerdict,
    Quotation,
    Relevance,
    RelevanceLabel,
    SupportLabel,
    Tone,
    TurnVerdict,
)

V_co = TypeVar("V_co", covariant=True)

_CLAIM: tuple[ClaimLabel, ...] = get_args(ClaimLabel)
_SUPPORT: tuple[SupportLabel, ...] = get_args(SupportLabel)
_POINT: tuple[PointLabel, ...] = get_args(PointLabel)
_RELEVANCE: tuple[RelevanceLabel, ...] = get_args(RelevanceLabel)
_FORM: tuple[FormLabel, ...] = get_args(FormLabel)
_COMPLETION: tuple[CompletionLabel, ...] = get_args(CompletionLabel)
_BEHAVIOUR: tuple[Behavior, ...] = get_args(Behavior)

_MOST_FIELDS = 20
_LONGEST_VALUE = 200
_NEEDED_BY_SCRIPTS = "\u200c\u200d"
# Servers of one's own may take `<|im_end|>`, `</s>` or `[INST]` in a text for their own marks.
_LIKE_A_MARK = re.compile(r"<(?=[^\s\d])|\[(?!(?:true|false|null)\b)(?=/|[^\W\d])")


class Task(ABC, Generic[V_co]):
    """One thing to judge.

    :cvar prompt: name of its prompt file.
    """

    prompt: ClassVar[str]

    @property
    @abstractmethod
    def data(self) -> Mapping[str, str]:
        """What fills the prompt, by placeholder."""

    @abstractmethod
    def read(self, reply: object) -> V_co:
        """The verdict in a reply.

        :param reply: JSON data.
        :raises Unreadable: where it is not of the form asked for, or does not answer each item
            asked exactly once.
        """

    @property
    def settled(self) -> V_co | None:
        """The verdict where there is nothing to ask, else ``None``."""
        return None


@dataclass(frozen=True)
class ClaimsTask(Task[tuple[str, ...]]):
    """Lists the claims of an answer: the first of the two calls of faithfulness."""

    question: str
    answer: str
    prompt: ClassVar[str] = "judge_claims"

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the answer: each claim says which one it is from."""
        return sentences(self.answer)

    @property
    def settled(self) -> tuple[str, ...] | None:
        """An answer without a word claims nothing."""
        return None if self.sentences else ()

    @property
    def data(self) -> Mapping[str, str]:
        """The question, and the answer sentence by sentence."""
        return {
            "question": json_line(text=self.question),
            "answer": _numbered("sentence", self.sentences),
        }

    def read(self, reply: object) -> tuple[str, ...]:
        """The claims, each once, in order; none where the answer claims nothing."""
        claims = []
        for item in listed(member(reply, "claims"), "`claims`"):
            within(member(item, "sentence", "a claim"), "`sentence`", 1, len(self.sentences))
            claims.append(said(member(item, "claim", "a claim"), "`claim`"))
        return tuple(dict.fromkeys(claims))


@dataclass(frozen=True)
class ClaimVerdictsTask(Task[Claims]):
    """Judges exactly these claims against the passages that the system had.

    :param about: metadata of each passage, which the system had as well; none of any where empty.
    """

    claims: tuple[str, ...]
    passages: tuple[str, ...]
    about: tuple[Mapping[str, Any], ...] = ()
    prompt: ClassVar[str] = "judge_claim_verdicts"

    @property
    def settled(self) -> Claims | None:
        """Without claims there is nothing to judge; without passages nothing is to be found."""
        if self.claims and self.passages:
            return None
        why = "The system had no passages."
        return Claims(tuple(ClaimVerdict(claim, "not_found", why) for claim in self.claims))

    @property
    def data(self) -> Mapping[str, str]:
        """Claims and passages, numbered."""
        return {
            "claims": _numbered("claim", self.claims),
            "passages": _lines(
                {"passage": n, **_about(self.about, n), "text": text}
                for n, text in enumerate(self.passages, start=1)
            ),
        }

    def read(self, reply: object) -> Claims:
        """One verdict for each claim; a quotation must stand in the passage that is named."""
        given = numbered(member(reply, "verdicts"), "verdicts", _places(self.claims), "claim")
        return Claims(
            tuple(self._verdict(n, claim, given[n]) for n, claim in enumerate(self.claims, start=1))
        )

    def _verdict(self, number: int, claim: str, item: Mapping[str, Any]) -> ClaimVerdict:
        where = f"claim {number}"
        label = _label(item, _CLAIM, where)
        why = _rationale(item, where)
        if label == "not_found":
            return ClaimVerdict(claim, label, why)
        passage = within(
            member(item, "passage", where), f"`passage` of {where}", 1, len(self.passages)
        )
        source = self.passages[passage - 1]
        quotation = quoted(member(item, "quotation", where), f"`quotation` of {where}", source)
        return ClaimVerdict(claim, label, why, passage, quotation)


@dataclass(frozen=True)
class RelevanceTask(Task[Relevance]):
    """Judges whether each passage helps to answer the question.

    :param passages: the first ones, best first; each is judged.
    :param about: metadata of each passage; none of any where empty.
    :param before: what was asked earlier in the conversation, oldest first: "And for 2023?" says
        little by itself.
    """

    question: str
    passages: tuple[str, ...]
    about: tuple[Mapping[str, Any], ...] = ()
    before: tuple[str, ...] = ()
    prompt: ClassVar[str] = "judge_relevance"

    @property
    def settled(self) -> Relevance | None:
        """Without passages there is nothing to judge."""
        return None if self.passages else Relevance(())

    @property
    def data(self) -> Mapping[str, str]:
        """The question with those before it, and the passages, numbered."""
        earlier = {"before": list(self.before)} if self.before else {}
        return {
            "question": json_line(text=self.question, **earlier),
            "passages": _lines(
                {"passage": n, **_about(self.about, n), "text": text}
                for n, text in enumerate(self.passages, start=1)
            ),
        }

    def read(self, reply: object) -> Relevance:
        """One verdict for each passage, by rank."""
        asked = _places(self.passages)
        given = numbered(member(reply, "verdicts"), "verdicts", asked, "passage")
        return Relevance(
            tuple(
                PassageVerdict(
                    rank,
                    _label(given[rank], _RELEVANCE, f"passage {rank}"),
                    _rationale(given[rank], f"passage {rank}"),
                )
                for rank in asked
            )
        )


@dataclass(frozen=True)
class CoherenceTask(Task[Coherence]):
    """Judges whether a chunk is a paragraph or noise, from its text alone."""

    text: str
    prompt: ClassVar[str] = "judge_coherence"

    @property
    def data(self) -> Mapping[str, str]:
        """The text, and nothing else: whoever retrieves it asks the same."""
        return {"text": json_line(text=self.text)}

    def read(self, reply: object) -> Coherence:
        """The form of the text."""
        where = "the reply"
        return Coherence(_label(reply, _FORM, where), _rationale(reply, where))


@dataclass(frozen=True)
class CoverageTask(Task[Coverage]):
    """Judges which key points an answer makes, and which points each of its sentences serves."""

    key_points: tuple[str, ...]
    answer: str
    prompt: ClassVar[str] = "judge_coverage"

    def __post_init__(self) -> None:
        if not self.key_points:
            raise ValueError("coverage needs at least one key point")

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the answer."""
        return sentences(self.answer)

    @property
    def settled(self) -> Coverage | None:
        """An answer without a word makes no point."""
        if self.sentences:
            return None
        why = "The answer is empty."
        points = tuple(PointVerdict(point, "absent", why) for point in self.key_points)
        return Coverage(points, (), ())

    @property
    def data(self) -> Mapping[str, str]:
        """The key points, and the answer sentence by sentence."""
        return {
            "key_points": _numbered("point", self.key_points),
            "answer": _numbered("sentence", self.sentences),
        }

    def read(self, reply: object) -> Coverage:
        """A verdict for each key point; sentences that serve none are padding."""
        points, asked = _places(self.key_points), _places(self.sentences)
        given = numbered(member(reply, "points"), "points", points, "point")
        serving = numbered(member(reply, "sentences"), "sentences", asked, "sentence")
        padding = tuple(n - 1 for n in asked if not self._served(n, serving[n]))
        verdicts = tuple(self._point(n, given[n]) for n in points)
        return Coverage(verdicts, self.sentences, padding)

    def _point(self, number: int, item: Mapping[str, Any]) -> PointVerdict:
        where = f"point {number}"
        label, why = _label(item, _POINT, where), _rationale(item, where)
        quotation = None
        if label != "absent":
            quotation = _quotation(item, where, " ".join(self.sentences))
        return PointVerdict(self.key_points[number - 1], label, why, quotation)

    def _served(self, number: int, item: Mapping[str, Any]) -> bool:
        where = f"`serves` of sentence {number}"
        serves = listed(member(item, "serves", f"sentence {number}"), where)
        return bool([within(point, where, 1, len(self.key_points)) for point in serves])


@dataclass(frozen=True)
class ToneTask(Task[Tone]):
    """Scores the register of an answer: formality and caution, in one call."""

    question: str
    answer: str
    prompt: ClassVar[str] = "judge_tone"

    @property
    def data(self) -> Mapping[str, str]:
        """Question and answer."""
        return {"question": json_line(text=self.question), "answer": json_line(text=self.answer)}

    def read(self, reply: object) -> Tone:
        """Two scores from 1 to 5, each with its rationale."""
        formality, caution = member(reply, "formality"), member(reply, "caution")
        return Tone(
            within(member(formality, "score", "`formality`"), "`score` of formality", 1, 5),
            _rationale(formality, "`formality`"),
            within(member(caution, "score", "`caution`"), "`score` of caution", 1, 5),
            _rationale(caution, "`caution`"),
        )


@dataclass(frozen=True)
class SupportTask(Task[ParagraphSupport]):
    """Judges how the sources that a paragraph cites support it: together, and each alone.

    Paragraphs that cite nothing are left out.  A source that does not exist supports nothing; that
    is not asked.

    :param paragraphs: of one answer, in order.
    :param passages: what the numbers cited refer to.
    :param about: metadata of each passage; none of any where empty.
    """

    paragraphs: tuple[Paragraph, ...]
    passages: tuple[str, ...]
    about: tuple[Mapping[str, Any], ...] = ()
    prompt: ClassVar[str] = "judge_support"

    @property
    def settled(self) -> ParagraphSupport | None:
        """Where nothing that exists is cited there is nothing to ask."""
        return None if self._asked else self._verdicts({})

    @property
    def data(self) -> Mapping[str, str]:
        """The paragraphs with the sources to judge, and these sources, with their own numbers."""
        cited = sorted({n for one in self._asked.values() for n in self._existing(one)})
        return {
            "paragraphs": _lines(
                {"paragraph": n, "sources": self._existing(one), "text": one.text}
                for n, one in self._asked.items()
            ),
            "sources": _lines(
                {"source": n, **_about(self.about, n), "text": self.passages[n - 1]} for n in cited
            ),
        }

    def read(self, reply: object) -> ParagraphSupport:
        """A verdict for each citing paragraph, and for each of its sources."""
        given = numbered(member(reply, "paragraphs"), "paragraphs", tuple(self._asked), "paragraph")
        return self._verdicts({n: self._read(n, item) for n, item in given.items()})

    @cached_property
    def _asked(self) -> dict[int, Paragraph]:
        citing = (one for one in self.paragraphs if self._existing(one))
        return dict(enumerate(citing, start=1))

    def _existing(self, paragraph: Paragraph) -> tuple[int, ...]:
        return tuple(n for n in paragraph.cited if 1 <= n <= len(self.passages))

    def _read(
        self, number: int, item: Mapping[str, Any]
    ) -> tuple[SupportLabel, str, dict[int, SupportLabel]]:
        where = f"paragraph {number}"
        label, why = _label(item, _SUPPORT, where), _rationale(item, where)
        sources = self._existing(self._asked[number])
        given = numbered(member(item, "sources", where), f"sources of {where}", sources, "source")
        alone = {n: _label(one, _SUPPORT, f"source {n} of {where}") for n, one in given.items()}
        if len(sources) == 1 and alone[sources[0]] != label:
            raise Unreadable(
                f"{where} has one source, so its label and the label of that source are the same"
            )
        return label, why, alone

    def _verdicts(
        self, given: Mapping[int, tuple[SupportLabel, str, dict[int, SupportLabel]]]
    ) -> ParagraphSupport:
        numbers = {one.index: n for n, one in self._asked.items()}
        verdicts = []
        for one in self.paragraphs:
            if not one.cited:
                continue
            label, why, alone = given.get(
                numbers.get(one.index, 0), ("unsupported", "It cites no source that exists.", {})
            )
            citations = tuple(CitationVerdict(n, alone.get(n, "unsupported")) for n in one.cited)
            verdicts.append(ParagraphVerdict(one.index, one.text, label, why, citations))
        return ParagraphSupport(tuple(verdicts))


@dataclass(frozen=True)
class BehaviourTask(Task[BehaviourVerdict]):
    """Judges what an answer says was done where the filters matched nothing.

    :param filters: those that matched nothing.
    """

    question: str
    filters: Mapping[str, Any]
    answer: str
    prompt: ClassVar[str] = "judge_behaviour"

    @property
    def data(self) -> Mapping[str, str]:
        """Question, filters and answer."""
        return {
            "question": json_line(text=self.question),
            "filters": json_line(filters=dict(self.filters)),
            "answer": json_line(text=self.answer),
        }

    def read(self, reply: object) -> BehaviourVerdict:
        """The behaviour; each but the silent failure rests on words of the answer."""
        where = "the reply"
        label, why = _label(reply, _BEHAVIOUR, where), _rationale(reply, where)
        if label == "failed_silently":
            return BehaviourVerdict(label, why)
        return BehaviourVerdict(label, why, _quotation(reply, where, self.answer))


@dataclass(frozen=True)
class ConversationTask(Task[Conversation]):
    """Judges a conversation that was played live.

    :param turns: user message and answer of each turn, oldest first; ``""`` where the system gave
        none.
    :param gold: the answer that the conversation should reach.
    """

    turns: tuple[tuple[str, str], ...]
    gold: str
    prompt: ClassVar[str] = "judge_conversation"

    def __post_init__(self) -> None:
        if not self.turns:
            raise ValueError("a conversation has at least one turn")

    @property
    def data(self) -> Mapping[str, str]:
        """The turns, numbered, and the gold answer."""
        return {
            "turns": _lines(
                {"turn": n, "user": user, "assistant": answer}
                for n, (user, answer) in enumerate(self.turns, start=1)
            ),
            "gold_answer": json_line(text=self.gold),
        }

    def read(self, reply: object) -> Conversation:
        """Whether it was completed, and whether each turn kept to the topic."""
        where = "the reply"
        label, why = _label(reply, _COMPLETION, where), _rationale(reply, where)
        asked = _places(self.turns)
        given = numbered(member(reply, "turns"), "turns", asked, "turn")
        turns = tuple(
            TurnVerdict(
                n - 1,
                true_or_false(member(given[n], "on_topic", f"turn {n}"), f"`on_topic` of turn {n}"),
                _rationale(given[n], f"turn {n}"),
            )
            for n in asked
        )
        return Conversation(label, why, turns)


PROMPTS: Mapping[str, frozenset[str]] = {
    "judge_claims": frozenset({"question", "answer"}),
    "judge_claim_verdicts": frozenset({"claims", "passages"}),
    "judge_relevance": frozenset({"question", "passages"}),
    "judge_coherence": frozenset({"text"}),
    "judge_coverage": frozenset({"key_points", "answer"}),
    "judge_tone": frozenset({"question", "answer"}),
    "judge_support": frozenset({"paragraphs", "sources"}),
    "judge_behaviour": frozenset({"question", "filters", "answer"}),
    "judge_conversation": frozenset({"turns", "gold_answer"}),
}
"""The prompts of the tasks, each with its placeholders."""


def _places(items: Sequence[object]) -> tuple[int, ...]:
    return tuple(range(1, len(items) + 1))


def _label(item: object, labels: Sequence[Label], where: str) -> Label:
    return one_of(member(item, "label", where), labels, f"`label` of {where}")


def _rationale(item: object, where: str) -> str:
    return said(member(item, "rationale", where), f"`rationale` of {where}")


def _quotation(item: object, where: str, source: str) -> Quotation:
    return quoted(member(item, "quotation", where), f"`quotation` of {where}", source)


def _numbered(name: str, texts: Iterable[str]) -> str:
    return _lines({name: number, "text": text} for number, text in enumerate(texts, start=1))


def _lines(items: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(json_line(**item) for item in items)


def _about(metadata: Sequence[Mapping[str, Any]], number: int) -> dict[str, Any]:
    """What is known of a passage beside its text, short enough to stand before it."""
    if not metadata:
        return {}
    fields = itertools.islice(sorted(metadata[number - 1].items()), _MOST_FIELDS)
    short = {
        key: value for key, value in fields if len(json.dumps(value, default=str)) < _LONGEST_VALUE
    }
    return {"about": short} if short else {}


def json_line(**item: Any) -> str:
    """An object as one line of JSON, as it stands in a prompt.

    Only visible characters stand for themselves, and none that a server may take for a mark of its
    own; zero-width joiners do too, which some scripts need.
    """
    text = json.dumps(item, ensure_ascii=False, allow_nan=False)
    if not text.isprintable():
        # A text is long, the characters that it is made of are few.
        text = text.translate({ord(one): _escaped(one) for one in set(text) if _is_hidden(one)})
    return _LIKE_A_MARK.sub(lambda found: _escaped(found[0]), text)


def _is_hidden(character: str) -> bool:
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
    return hidden and character not in _NEEDED_BY_SCRIPTS


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
