"""Conversations: does the end hold the gold answer's facts, and does each turn keep to its topic?

Whether filters were kept is measured elsewhere, from the filters themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_touchstone.judge.offline.conduct import asks_back, says_nothing_found
from pytest_touchstone.judge.offline.embedding import Embed
from pytest_touchstone.judge.offline.lexicon import phrases, plain
from pytest_touchstone.judge.offline.points import LONGEST, UNLIKE, coverage, senses
from pytest_touchstone.judge.offline.quantities import quantities
from pytest_touchstone.paragraphs import sentences
from pytest_touchstone.verdicts import CompletionLabel, Conversation, TurnVerdict

SAME_ANSWER = 0.8
"""Share of words in common from which an answer repeats an earlier one."""
COMPLETED_FROM, PARTLY_FROM = 0.85, 0.3
"""Shares of the gold answer."""
_LONGEST_TURN = 20_000
_MOST = 200
_CHANGED = 2
_FEW = 4


def conversation(turns: Sequence[tuple[str, str]], gold: str, embed: Embed) -> Conversation:
    """Whether the gold answer was reached, and each turn's topic.

    :param turns: user message and answer, oldest first; ``""`` where there was none.
    """
    read = [(question[:_LONGEST_TURN], answer[:_LONGEST_TURN]) for question, answer in turns]
    kept = tuple(_turn(number, read, embed) for number in range(len(read)))
    label, why = _completion(read, gold[:_LONGEST_TURN], kept[-1], embed)
    return Conversation(label, why, kept)


def _completion(
    turns: Sequence[tuple[str, str]], gold: str, last: TurnVerdict, embed: Embed
) -> tuple[CompletionLabel, str]:
    question, answer = turns[-1]
    if says_nothing_found(gold):
        if says_nothing_found(answer):
            return "completed", "Nothing can be found, and the last answer says so."
        return "failed", "Nothing can be found, but the last answer does not say so."
    points = sentences(gold)[:_MOST]
    if not points:
        return "failed", "The gold answer has no sentence."
    final = coverage(points, sentences(answer)[:_MOST], embed).points
    earlier = tuple(text for _, told in turns[:-1] for text in sentences(told))[-_MOST:]
    if earlier and last.on_topic and any(point.label != "present" for point in final):
        # A point may have been made before; one that the end gives otherwise was taken back.
        before = coverage(points, earlier, embed).points
        final = tuple(
            then if then.label == "present" and now.support else now
            for now, then in zip(final, before, strict=True)
        )
    share = sum(point.support or 0.0 for point in final) / len(final)
    told = {word for _, text in turns for word in senses(text)} | set(senses(question))
    missing = [word for word in dict.fromkeys(senses(gold)) if word not in told]
    whole = all(point.label == "present" for point in final)
    if share >= COMPLETED_FROM or (whole and len(missing) < max(2, len(final))):
        return "completed", f"The answers hold {share:.0%} of the gold answer."
    worst = min(final, key=lambda point: point.support or 0.0)
    why = f"The answers hold {share:.0%} of the gold answer; “{worst.point[:80]}”: "
    return ("partly" if share >= PARTLY_FROM else "failed"), why + worst.rationale


def _turn(number: int, turns: Sequence[tuple[str, str]], embed: Embed) -> TurnVerdict:
    answer = turns[number][1]
    if not sentences(answer):
        return TurnVerdict(number, False, "There is no answer.")
    if says_nothing_found(answer):
        return TurnVerdict(number, True, "It says that nothing was found.")
    if asks_back(answer):
        return TurnVerdict(number, True, "It asks back.")
    found = _by_words(number, turns)
    return found if found is not None else _by_meaning(number, turns, embed)


def _by_words(number: int, turns: Sequence[tuple[str, str]]) -> TurnVerdict | None:
    """The verdict where words decide: those of this question, and those of the turns before."""
    question, answer = turns[number]
    words, asked = set(senses(answer)), set(senses(question))
    before = {word for turn in turns[:number] for text in turn for word in senses(text)}
    new = asked - before
    shared, back = sorted(words & (new if number else asked)), sorted(words & (before - asked))
    if shared:
        return TurnVerdict(number, True, f"It speaks of {_quoted(shared)}.")
    for earlier in range(number):
        told = set(senses(turns[earlier][1]))
        if len(words & told) >= SAME_ANSWER * max(len(words), 1):
            return TurnVerdict(number, False, f"It repeats the answer of turn {earlier + 1}.")
    if phrases("quantity").search(plain(question)) and not quantities(answer):
        return TurnVerdict(number, False, "The question asks how much or when; no figure is given.")
    if len(new) >= _CHANGED and len(back) >= _CHANGED:
        return TurnVerdict(number, False, f"It falls back to {_quoted(back)}, which was left.")
    if len(words) <= _FEW:
        return TurnVerdict(number, True, "It is too short to be of another subject.")
    if back:
        return TurnVerdict(number, True, f"It goes on about {_quoted(back)}.")
    return None


def _by_meaning(number: int, turns: Sequence[tuple[str, str]], embed: Embed) -> TurnVerdict:
    """Where no word tells: is the answer near to this question, or to the turn before it?"""
    question, answer = turns[number]
    context = [text for turn in turns[max(0, number - 1) : number] for text in turn if text]
    vectors = embed([text[:LONGEST] for text in (answer, question, *context)])
    near = float((vectors[1:] @ vectors[0]).max()) >= UNLIKE
    why = "near to" if near else "far from"
    return TurnVerdict(number, near, f"Its meaning is {why} the question and the turn before.")


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word.lstrip('=')[:40]}”" for word in words[:3])
