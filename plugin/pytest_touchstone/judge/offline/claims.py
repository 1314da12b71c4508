"""What an answer claims: its sentences, without those that state nothing about the world.

Questions, greetings, offers, lead-ins and headings make no claim, nor does what an answer says of
itself or its sources ("I found nothing about this"); where such a sentence goes on with "but", or
with a clause that gives a figure, the rest counts ("Hello, 34 schools were closed").  An admission
with a figure that does not speak of the answer's own sources is a finding, and a claim.  A claim is
a sentence as it stands: pronouns are not resolved, and the facts of one sentence stay together.
"""

from __future__ import annotations

import re

from pytest_touchstone.judge.offline.dates import dates
from pytest_touchstone.judge.offline.quantities import quantities
from pytest_touchstone.paragraphs import CITATION, sentences
from pytest_touchstone.tokens import tokens

_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]\n]{1,300})\]\([^()\s]{1,500}\)")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]]+")
_EMPHASIS = re.compile(r"(?<!\w)(?:\*{1,3}|_{1,3}|`+)(?=\S)|(?<=\S)(?:\*{1,3}|_{1,3}|`+)(?!\w)")
_MARKER = re.compile(rf"\s{{0,4}}{CITATION}")
_CITED_CELL = re.compile(
    rf"(\|(?:[^|\n.!?]|[.!?](?=\S)){{0,2000}}?(?:\s{{0,4}}{CITATION})+)[ \t]+(?=[^\W_])(?![a-zåäö])"
)
"""The last cell of a table with its citation markers, which end it: a row has no full stop."""
_LIST_MARK = re.compile(r"^(?:(?:#{1,6}|>|[-*•–—▪]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+)+")
_NEXT_MARK = re.compile(r"(?<=[.:;])\s+(?:\(?\d{1,3}[.)]|[-*•–—▪])$")
_QUESTION = re.compile(r"[?؟？]\s*[\"'”’»)\]]*$")
_BUT = re.compile(
    r";\s+|[,;.]?\s+(?:but|however|though|yet|nevertheless|instead|men|däremot|dock),?\s+",
    re.IGNORECASE,
)
_SOURCE = (
    r"(?:(?:the|these|those|any|my|your|given|provided|available|retrieved|supplied|cited)\s)"
    r"(?:\w+\s)?(?:passages?|documents?|sources?|contexts?|excerpts?|texts?|information|search"
    r"(?:\sresults)?|materials?|results?)"
)
_KÄLLA = (
    r"(?:källor(?:na)?|underlag(?:et)?|utdrag(?:en|et)?|textutdrag\w*|dokument(?:en|et)|sammanhanget"
    r"|passager(?:na)?|texterna|sökresultat\w*)"
)
_ADMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "I do not know", "I could not find any …", "we have no information on …"
        r"\b(?:I|we)(?:['’]m|\sam|\sare|\swas|\swere)?\s(?:do\snot|don['’]t|cannot|can['’]?t|can\snot"
        r"|could\snot|couldn['’]t|did\snot|didn['’]t|was\snot|not|unable|have\sno|have\snot|haven['’]t"
        r"|had\sno|found\sno|see\sno|find\sno|regret|lack)\s(?:\w+\s){0,3}?(?:know|find|found|answers?|"
        r"enough|sure|determine|information|mention|details?|tell|say|help|locate|access|passages?|"
        r"documents?|evidence|data|results?|reports?|match(?:es|ing)?|anything|nothing)\b",
        r"^(?:unfortunately,?\s|sorry,?\s(?:but\s)?)?(?:there\s(?:is|are|was|were)|(?:it\s)?(?:has|contains?))"
        r"\s(?:no|not\s(?:any|enough|sufficient))\s(?:\w+\s){0,3}?(?:information|mention|details?|data"
        r"|answer|passages?|documents?|results?|match(?:es)?)\b",
        # "the passages do not say …", "… is not mentioned in the documents provided"
        rf"\b{_SOURCE}\b.{{0,60}}?\b(?:not|no|n['’]t|nothing|lacks?)\b",
        rf"\b(?:not|no|n['’]t|nothing)\b.{{0,60}}?\b(?:in|by|from|within)\s{_SOURCE}\b",
        r"\b(?:no|not\sany)\s(?:\w+\s){0,2}(?:passages?|documents?|reports?|results?|chunks?|sources?"
        r"|records?)\s(?:\w+\s){0,2}(?:match(?:es|ed)?|(?:was|were|could\sbe)\sfound|found)\b",
        r"^there\s(?:is|are)\sno\s(?:\w+\s)?(?:reports?|passages?|documents?|figures?|data)\s(?:on|for|about)\b",
        r"\bnothing\s(?:\w+\s){0,3}(?:match(?:es|ed)|was\sfound)\b",
        # Swedish
        r"\b(?:jag|vi)\s(?:hittar|hittade|hittat|finner|fann|vet|har\shittat|kan|kunde|ser)\s(?:\w+\s){0,2}"
        r"(?:inte|inget|inga|ingen|ingenting)\b(?=.{0,40}\b(?:svar|hitta|information|uppgift|om|källa|säga|veta|\W*$))",
        r"\b(?:hittar|hittade|vet|kan|har|finner|fann|ser)\s(?:jag|vi)\s(?:\w+\s){0,3}?(?:inte|inget|inga"
        r"|ingen|ingenting)\b",
        rf"\b{_KÄLLA}\b.{{0,60}}?\b(?:inte|inget|inga|ingen|ingenting|saknas?|saknar)\b",
        rf"\b(?:inte|inget|inga|ingen|ingenting)\b.{{0,60}}?\b(?:i|av|ur|bland)\s(?:\w+\s)?{_KÄLLA}\b",
        r"\b(?:uppgift(?:er)?|information|svar|träffar|dokument)\s(?:\w+\s){0,2}(?:saknas|hittades\sinte)\b",
        r"\binga?\s(?:\w+\s){0,2}(?:träffar|dokument|källor|uppgifter|rapporter|anföranden)\b.{0,40}"
        r"\b(?:hittades|matchar|finns|motsvarar)\b",
    )
)
_TALKS = re.compile(
    r"""^(?:
    (?:yes|no|ok(?:ay)?|sure|certainly|of\scourse|absolutely|indeed|right|great|ja|nej|visst
      |absolut|självklart)[.!,]*$
    | (?:hi|hello|hey|dear|hej|hejsan|god\s(?:dag|morgon|kväll)|good\s(?:morning|afternoon|evening
      |day))\b.{0,60}$
    | (?:thanks?|thank\syou|you['’]re\swelcome|you\sare\swelcome|welcome|no\sproblem|my\spleasure
      |glad|great\squestion|good\squestion|stay\ssafe|good\sluck|have\sa\s|best\sregards|cheers
      |tack|varsågod|ingen\sorsak|lycka\still|det\svar\ssnällt)\b.{0,120}$
    | (?:sorry|apologies|i\sapologi[sz]e|my\sapologies|i['’]m\ssorry|i\sam\ssorry|förlåt|ursäkta
      |jag\sbeklagar|tyvärr\skan\sjag)\b.{0,160}$
    | (?:please\s)?(?:let\sme\sknow|feel\sfree|do\snot\shesitate|don['’]t\shesitate|hör\sgärna\sav
      |säg\still|fråga\sgärna|tveka\sinte)\b.*$
    | (?:if|should|om)\s.{0,80}\b(?:feel\sfree|let\sme\sknow|just\sask|don['’]t\shesitate
      |do\snot\shesitate|i['’]m\shere|i\sam\shere|happy\sto\shelp|hör\sgärna|säg\still
      |fråga\sgärna|hjälper\sjag\sgärna)\b.*$
    | (?:i\shope|i['’]m\shappy\sto|i\sam\shappy\sto|i\scan\s(?:also\s)?(?:help|look|search|check
      |provide)|i\swill|i['’]ll|i['’]d\sbe|i\swould\sbe|happy\sto|would\syou|shall\si
      |do\syou\swant|jag\skan\s(?:också\s|även\s)?(?:hjälpa|leta|söka|ta\sfram)|jag\shoppas
      |jag\sletar|jag\ssöker|vill\sdu|ska\sjag)\b.*$
    | (?:here\s(?:is|are)|here['’]s|below\s(?:is|are)|the\sfollowing|sure,?\shere|här\s(?:är
      |kommer|följer)|nedan\sföljer|följande)\b.{0,160}:$
    | (?:i\s(?:have\s)?(?:searched|relaxed|dropped|removed|widened|looked|ignored)
      |jag\s(?:har\s)?(?:sökt|tagit\sbort|letat|vidgat))\b.*$
    | (?:(?:what\sfollows|the\sfollowing|this\sanswer|the\sanswer\sbelow|these\s(?:results
      |passages))\s(?:therefore\s|also\s)?(?:leaves?\sout|ignores?|disregards?|drops?|omits?
      |(?:is|are)\snot\s(?:limited|restricted)\sto)
      |(?:det\ssom\sföljer|följande|nedanstående|svaret\snedan|träffarna)\s(?:därför\s|också\s)?
      (?:utelämnar|bortser\sfrån|hoppar\söver|är\sinte\sbegränsa(?:t|de)\still))\b.{0,160}$
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:found|find|see|add|note|say|said|confirm|report|mention|tell\s(?:you|us)|hittat|funnit|fann"
    r"|hittade|ser|säga|tillägga|nämna|berätta|bekräfta|konstaterar?)\s(?:\w+\s)?(?:that|att)\s",
    re.IGNORECASE,
)
"""What comes before a statement that an answer makes in the first person."""
_OFFERS = re.compile(
    r"^(?:please|let\sme|feel|do\snot|don['’]t|if|should|om|i\scan|i\swill|i['’]|i\swould|happy|would"
    r"|shall|do\syou|hör|säg|fråga|tveka|jag\skan|jag\shoppas|vill|ska)\b",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"^(?:sure,?\s)?(?:here\s(?:is|are)|here['’]s|below\s(?:is|are)|the\sfollowing|här\s(?:är|kommer"
    r"|följer)|nedan\sföljer|följande)\s",
    re.IGNORECASE,
)
_NEXT_CLAUSE = re.compile(r"[,:;]\s+(?:and\s|och\s)?|\s[–—-]\s|\s(?:and|och)\s", re.IGNORECASE)
_FIRST_PERSON = re.compile(
    r"\b(?:i|we|jag|vi|my|our|your|you|du|mina?|mitt)\b|\b(?:passage|context|excerpt|search|provided"
    r"|retrieved|supplied|given|utdrag|textutdrag|passager|sökresultat|underlag|källor|sammanhang)",
    re.IGNORECASE,
)
"""Who speaks in an admission: the answer itself, of itself or of what it was given."""
_UNFINISHED = re.compile(
    r"\b(?:e\.g|i\.e|no|nos|st|dr|mr|mrs|prof|vs|art|sec|para|t\.ex|bl\.a|d\.v\.s|nr|s\.k|p\.g\.a|ca|kl|jan|feb|apr|aug|sept?|oct|okt|nov|dec)\.$",
    re.IGNORECASE,
)
_SHORTEST_REST = 3
_LONGEST_LEAD_IN = 30
_COUNTED = 20
"""The most things that a lead-in may count without a statement: "Here are 5 reports:"."""
_SHORT_OPENER = 4
_LONGEST_JOINED = 600
_NAMED = re.compile(r"(?!(?:I|We|You|Jag|Vi|Du|Welcome|Please)\b)[A-ZÅÄÖ]\w+\s+[^\W\d_]")


def claims(answer: str) -> tuple[str, ...]:
    """The claims of an answer, each once, in order; none where it claims nothing.

    Marks of emphasis and lists, links and citation markers are left out; code in a fence is one
    claim.
    """
    found: list[str] = []
    for part, code in _parts(answer):
        if code:
            found += [" ".join(part.split())] if tokens(part) else []
        else:
            found += _of_prose(part)
    return tuple(dict.fromkeys(found))


def plain(text: str) -> str:
    """A text without marks of emphasis, targets of links and citation markers."""
    text = _URL.sub(" ", _LINK.sub(r"\1", text))
    return _EMPHASIS.sub("", _MARKER.sub("", text))


def _parts(answer: str) -> list[tuple[str, bool]]:
    parts, at = [], 0
    for match in _FENCE.finditer(answer):
        parts += [(answer[at : match.start()], False), (match[1], True)]
        at = match.end()
    return [*parts, (answer[at:], False)]


def whole_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, joined where an abbreviation or a bracket was taken for an end."""
    found: list[str] = []
    for sentence in sentences(text):
        if found and len(found[-1]) < _LONGEST_JOINED and _goes_on(found[-1]):
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    return tuple(found)


def _of_prose(text: str) -> list[str]:
    text = plain(_CITED_CELL.sub(r"\1\n", text))
    spoken = [_LIST_MARK.sub("", each).strip() for each in whole_sentences(text)]
    several = len(spoken) > 1
    found = []
    for sentence in spoken:
        claim = _claim(sentence)
        if claim and not (several and _leads_in(claim)):
            found.append(claim)
    return found


def _goes_on(sentence: str) -> bool:
    """Whether what was taken for a sentence ends in the middle of one."""
    return bool(_UNFINISHED.search(sentence)) or sentence.count("(") > sentence.count(")")


def _claim(sentence: str) -> str:
    """The part of a sentence that claims something."""
    sentence = _NEXT_MARK.sub("", sentence)
    if not tokens(sentence) or _QUESTION.search(sentence):
        return ""
    if _TALKS.match(sentence):
        return _told(sentence)
    if not any(pattern.search(sentence) for pattern in _ADMITS):
        return sentence
    if not _FIRST_PERSON.search(sentence) and _has_figure(sentence):
        return sentence  # "No records were found for 14 payments": a finding
    # "I found nothing on 2019, but in 2020 it was 3 million": the rest is judged by itself.
    parts = _BUT.split(sentence, maxsplit=1)
    rest = parts[1] if len(parts) > 1 else ""
    return _claim(rest) if len(tokens(rest)) >= _SHORTEST_REST else ""


def _told(sentence: str) -> str:
    """What a sentence that opens with talk goes on to state, or nothing."""
    told = _TOLD.search(sentence)
    if told and len(tokens(sentence[told.end() :])) >= _SHORTEST_REST:
        return _claim(sentence[told.end() :])
    if _OFFERS.match(sentence):
        return ""
    if lead_in := _LEAD_IN.match(sentence):
        return sentence[lead_in.end() :] if _has_figure(sentence, _COUNTED) else ""
    clause = _NEXT_CLAUSE.search(sentence)
    rest = sentence[clause.end() :] if clause else ""
    if len(tokens(rest)) < _SHORTEST_REST:
        return ""
    names_one = len(tokens(sentence[: clause.start()])) <= _SHORT_OPENER if clause else False
    tells = _has_figure(rest) or (names_one and _NAMED.match(rest))
    return _claim(rest) if tells else ""


def _has_figure(text: str, more_than: float = 0.0) -> bool:
    """Whether a text gives a number that is no date and no count of a few things in letters.

    :param more_than: what a number without a unit must exceed.
    """
    written = dates(text)
    return any(
        not (each.weak or each.ordinal)
        and (each.unit is not None or max(each.values) > more_than)
        and not any(d.start < each.end and each.start < d.end for d in written)
        for each in quantities(text)
    )


def _leads_in(claim: str) -> bool:
    """Whether a line only announces what follows it, or is a bare heading."""
    words = tokens(claim)
    if any(map(str.isdigit, claim)):
        return False
    return (claim.endswith((":", "：")) and len(words) <= _LONGEST_LEAD_IN) or len(words) < 2
