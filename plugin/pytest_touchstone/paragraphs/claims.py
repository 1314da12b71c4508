"""Does a paragraph claim anything about the world?  By rules: English, Swedish, and the rest.

A paragraph claims something where one of its sentences does.  No claims are questions, lines that
lead into something by a colon, titles, courtesies, and saying that one does not know.  In other
languages than English and Swedish only the form of a sentence tells; there a courtesy counts.
"""

from __future__ import annotations

import re

from pytest_touchstone.paragraphs.blocks import is_title
from pytest_touchstone.paragraphs.sentences import sentences

_QUESTION = ("?", "？", "؟", "\u037e")
_LEAD_IN = (":", "：")
_CLOSERS = "*_\"'”’»)]} \t"
_OPENER = re.compile(r"^(?:[\s*_>#\"'“”«([-]|[0-9]{1,3}[.)]\s)+")


def _begins(*phrases: str, ends: str = r"\b") -> re.Pattern[str]:
    """One of the phrases, at the start of a text in small letters with straight apostrophes."""
    return re.compile(rf"(?:{'|'.join(phrases)}){ends}")


# Whole sentences of these words say nothing.
_COURTESY = _begins(
    r"(?:hi|hello|hey|greetings)(?: there)?",
    r"sure(?: thing)?|of course|certainly|absolutely",
    r"(?:many )?thanks|thank you(?: for .{0,60})?|you(?:'| a)re welcome",
    r"(?:that(?:'| i)s an? )?(?:great|good|excellent|interesting) question",
    r"(?:i'm )?sorry|apologies",
    r"hej(?:san)?|hallå|god (?:dag|morgon)",
    r"(?:ja )?visst|självklart|absolut|givetvis|varsågod",
    r"tack(?: så mycket)?(?: för .{0,60})?",
    r"(?:det var )?(?:en )?bra fråga",
    r"förlåt|(?:jag )?beklagar",
    r"(?:fru |herr )?talman",
    ends=r"[\s.!,…]*$",
)
# Sentences that begin like this offer help, or speak of what follows.
_OFFER = _begins(
    r"(?:please )?(?:let me know|feel free)",
    r"i hope (?:this|that|it)|hope (?:this|that) helps",
    r"(?:i'm|i am|i'd be|i would be) (?:happy|glad) to|happy to help",
    r"if you (?:have|need|want|would like|wish)\b.{0,120}\b(?:let me|feel free|ask|i can)",
    r"here (?:is|are)|below (?:is|are)|what follows",
    r"hör (?:gärna )?av dig|säg (?:bara )?till|fråga gärna|(?:jag )?hjälper gärna",
    r"(?:jag )?hoppas (?:att )?(?:det|detta)",
    r"om du (?:vill|behöver|har)\b.{0,120}\b(?:säg|fråga|hör|kan jag)",
    r"här (?:är|följer)|nedan följer|det som följer",
)
# Sentences that begin like this say what one does not know or did not find.
_NOT_ONE = r"(?:inte|ingen|inget|inga|ingenting|ej)"
_IN_SOURCES = r"(?:source|passage|document|context|excerpt|information|text|material)s?"
_ADMISSION = _begins(
    r"i (?:don't|can't|couldn't|didn't|cannot|(?:do|can|could|did|am|was) not|(?:am|was) unable)",
    r"i (?:have|found) (?:no|nothing|not)|i'm (?:not|unable)",
    r"there (?:is|was|are|were) (?:no|not enough)"
    r" (?:information|data|evidence|mention|match|document|source|passage|result|record)\w{0,3}",
    r"no (?:information|documents?|passages?|sources?|results?|match(?:es)?)",
    r"nothing (?:matche[sd]|was found)",
    rf"(?:the|these|my|none of the) (?:\w{{1,20}} ){{0,2}}{_IN_SOURCES}"
    r" (?:do(?:es)?n't|didn't|(?:do|does|did) not|contains? no|says? nothing|mentions? no)",
    rf"jag (?:vet|kan|kunde|hittar|hittade|har|fann|finner) (?:tyvärr )?{_NOT_ONE}",
    rf"(?:kan|vet|hittar|har) jag (?:tyvärr )?{_NOT_ONE}",
    r"det (?:finns|fanns) (?:tyvärr )?(?:ingen|inget|inga|inte)"
    r" (?:uppgift|information|underlag|svar|träff|källa|dokument|anförande|belägg)\w{0,4}",
    r"inget (?:matchar|hittades|underlag)|inga (?:träffar|uppgifter|källor|dokument|anföranden)",
    r"(?:käll|dokument|passag|underlag|text|utdrag|material)\w{0,8}"
    rf" (?:nämner|säger|innehåller|anger|ger|besvarar) {_NOT_ONE}",
)
_REGRET = re.compile(r"(?:unfortunately|regrettably|sorry|i'm sorry|tyvärr),? (?:but |så )?")
# "I could not find the total, but Gulu spent 7 million."
_BUT = re.compile(r"\b(?:but|however|men|däremot)\b")
# Tags, comments and entities say nothing by themselves.
_MARKUP = re.compile(
    r"<!--.{0,2000}?-->|</?[a-zA-Z][^<>\n]{0,300}>|&[a-zA-Z]{2,8};|&#\d{1,7};", re.DOTALL
)
_HEAD = 400  # characters of a sentence that are looked at


def makes_claims(text: str) -> bool:
    """Whether some sentence of a text claims something."""
    text = _MARKUP.sub(" ", text)
    return not is_title(text) and any(_claims(sentence) for sentence in sentences(text))


def _claims(sentence: str) -> bool:
    end = sentence[-_HEAD:].rstrip(_CLOSERS)
    if not end or end.endswith(_LEAD_IN) or end.endswith(_QUESTION):
        return False
    start = _OPENER.sub("", sentence[:_HEAD]).casefold().replace("’", "'")
    if _COURTESY.match(start) or _OFFER.match(start):
        return False
    regret = _REGRET.match(start)
    admitted = _ADMISSION.match(start, regret.end() if regret else 0)
    return admitted is None or _BUT.search(start, admitted.end()) is not None
