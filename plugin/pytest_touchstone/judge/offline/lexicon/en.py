"""English."""

from __future__ import annotations

from pytest_touchstone.judge.offline.lexicon.language import Language

_THING = (
    r"(?:information|data|records?|reports?|documents?|results?|match(?:es)?|entr(?:y|ies)|hits?"
    r"|mentions?|passages?|sources?|evidence|figures?|details?|audits?|findings?|such \w+)"
)
_SEARCH = r"(?:search|filters?|scope|conditions?|criteria|question|query)"

ENGLISH = Language(
    function_words="""
a an the this that these those such each every any some no not all both either neither other
another same own more most less least many much few several and or but nor so yet if unless until
while because since although though whereas whether as than then when where why how what which who
whom whose there here it its itself he him his she her hers they them their theirs we us our ours
you your yours i me my mine one ones is are was were be been being am has have had having do does
did doing done will would shall should can could may might must ought of in on at by for with from
to into onto upon about above below over under between among through during before after against
within without across along around behind beyond per via out off up down again also only just even
still already once too very not now thus hence therefore however
""",
    furniture=(
        r"page \d+(?: ?(?:of|/) ?\d+)?", r"p\. ?\d+", r"all rights reserved", r"copyright",
        r"privacy (?:policy|notice|statement)", r"terms (?:of use|of service|and conditions)",
        r"cookie (?:policy|settings|preferences|notice)", r"cookies?", r"sitemap", r"site map",
        r"table of contents", r"contents", r"list of (?:tables|figures|abbreviations|acronyms)",
        r"index", r"skip to (?:main )?content", r"back to (?:the )?top",
        r"return to (?:the )?top", r"(?:main|secondary|primary|site) (?:menu|navigation)",
        r"show/hide .*", r"toggle .*", r"menu", r"search", r"log ?in", r"log ?out",
        r"sign (?:in|up|out)", r"register", r"share", r"share (?:this|on) .*",
        r"print(?: this page)?", r"download(?: \w+){0,2}", r"subscribe", r"newsletters?",
        r"follow us", r"contact(?: us)?", r"about(?: us)?", r"home", r"next", r"previous",
        r"read more", r"learn more", r"see more", r"show more", r"view all.*", r"items per page",
        r"filters?", r"accessibility", r"feedback", r"help", r"faqs?", r"press releases?",
        r"careers", r"jobs", r"social media", r"facebook", r"twitter", r"instagram", r"linkedin",
        r"youtube", r"rss", r"last (?:updated|reviewed|modified).*", r"(?:page )?last updated.*",
        r"published(?: on)?:? .*", r"language", r"english", r"español", r"tel(?:ephone)?\b.*",
        r"phone\b.*", r"fax\b.*", r"e-?mail\b.*", r"p\.? ?o\.? box .*", r"office of the .*",
        r"report of the .*", r"confidential", r"draft", r"for internal use.*",
        r"printed (?:by|on|in) .*", r"isbn\b.*", r"issn\b.*", r"doi\b.*", r"version \d[\d.]*",
        r"this page (?:is )?intentionally left blank", r"loading.*", r"expand all",
        r"collapse all", r"related (?:links|topics|articles|content|information)", r"quick links",
        r"topics", r"references", r"bibliography", r"appendix \w+", r"annex \w+", r"note \d+",
        r"accept(?: all)?(?: cookies)?", r"reject all", r"popular(?: now)?", r"tags?",
    ),
    standing=(
        r"(?:uses?|using|accept|accepting|set|store|storing) (?:\w+ ){0,3}cookies",
        r"by (?:continuing|using|browsing|visiting) (?:\w+ ){0,4}(?:site|website|page|service)",
        r"all rights (?:are )?reserved", r"©", r"\(c\) \d{4}",
        r"no part of this (?:publication|document|report|work)", r"may (?:not )?be reproduced",
        r"without (?:the )?(?:prior )?(?:written )?permission", r"the views expressed (?:in|are)",
        r"this (?:message|e-?mail) (?:is|and any)", r"for general information(?:al)? purposes",
        r"does not constitute (?:legal |\w+ )?advice", r"as is without (?:any )?warrant(?:y|ies)",
        r"registered trademarks?", r"trademarks? (?:of|are)", r"sign up (?:for|to)",
        r"subscribe to (?:our|the)", r"share this (?:page|article|post)", r"follow us on",
        r"(?:our|free|weekly) newsletter", r"read more (?:articles|news|stories)",
        r"was this (?:page|article) helpful", r"search results for", r"sort by:?",
        r"this page intentionally left blank", r"an official website of", r"here's how you know",
        r"javascript (?:is|must be) ", r"enable javascript", r"your browser",
        r"secure \.gov websites?", r"a lock \( ?\)", r"i do not provide a separate opinion",
        r"in accordance with international standards",
        r"audit evidence (?:i|we) have obtained is sufficient and appropriate",
        r"(?:my|our) responsibilities under those standards", r"present fairly,? in all material",
        r"(?:is|are) responsible for the preparation (?:and fair presentation )?of",
        r"the accounting policies form part of", r"form an integral part of these",
        r"i (?:would like to |wish to |also )*thank(?! the \w+ for)",
        r"(?:thank|thanks) (?:you )?(?:all )?for",
        r"i beg to move", r"i move that", r"i yield", r"the question was put",
        r"(?:motion|amendment)s? (?:was |were )?(?:agreed to|carried|adopted|negatived)",
        r"the (?:house|session|meeting|sitting) (?:\w+ ){0,2}(?:adjourned|resumed|rose|closed)",
        r"laid (?:up)?on the table", r"right honou?rable",
        r"the debate (?:was|is) (?:closed|over)",
        r"(?:i )?shall return to (?:this|the matter|the subject)",
    ),
    slang=(
        r"lol", r"omg", r"wtf", r"btw", r"gonna", r"wanna", r"gotta", r"kinda", r"sorta",
        r"dunno", r"ain't", r"y'all", r"yeah", r"yep", r"nope", r"yup", r"dude", r"guys",
        r"folks", r"crap", r"damn(?:ed)?", r"hell of", r"what the hell", r"sucks?", r"shit\w*",
        r"bullshit", r"fuck\w*", r"screwed (?:up)?", r"messed up", r"idiots?", r"liars?",
        r"crooks?", r"thieves", r"dodgy", r"stupid", r"morons?", r"clowns?", r"dumb", r"losers?",
        r"crazy", r"insane", r"awesome", r"super \w+", r"mind[- ]blowing", r"game[- ]changer",
        r"don't miss", r"act now", r"amazing", r"incredible", r"unbeatable", r"best ever",
        r"a steal", r"ripped off", r"rip[- ]?offs?", r"bucks", r"a ton of", r"tons of", r"cool",
        r"heck", r"freaking", r"pathetic", r"lazy", r"no way",
    ),
    chatty=(
        r"great question", r"good question", r"excellent question", r"interesting question",
        r"thanks? for (?:asking|your question|reaching out)", r"thank you for (?:asking|your)",
        r"(?:i )?hope (?:this|that) helps", r"happy to help", r"glad (?:to|you)",
        r"hi(?: there)?", r"hello(?: there)?", r"hey(?: there)?", r"sure(?: thing)?,?",
        r"of course!?", r"absolutely", r"let's (?:see|dive|look|take|get)",
        r"let me (?:tell|show|explain|break|walk)", r"feel free", r"no worries", r"no problem",
        r"you know", r"well,", r"so,", r"oh,?", r"wow", r"guess what", r"believe it or not",
        r"fun fact", r"long story short", r"the good news", r"the bad news", r"here's the thing",
        r"in a nutshell", r"spoiler", r"don't worry", r"just (?:ask|let me know)", r"let me know",
        r"have a (?:great|nice|good)", r"cheers", r"bear with me", r"buckle up", r"to be honest",
        r"honestly", r"frankly", r"okay", r"ok", r"anyway", r"sadly", r"unfortunately for",
        r"joking aside", r"just kidding", r"as an ai(?: language model)?",
    ),
    everyday=(
        r"\w+n't", r"(?:i|you|we|they|he|she|it|that|there|what|who|here)'(?:s|re|ve|ll|d|m)",
        r"a lot(?: of)?", r"lots of", r"a bit", r"a couple of", r"pretty (?:\w+)", r"really",
        r"quite a", r"kind of", r"sort of", r"stuff", r"things?", r"get(?:s|ting)?", r"got",
        r"big", r"huge", r"okay", r"basically", r"actually", r"just", r"maybe", r"plenty of",
        r"loads of", r"figure out", r"come up with", r"end(?:ed)? up", r"ran out",
        r"went (?:bad|up|down)", r"kids?", r"way (?:more|too|over|less)", r"bad(?:ly)?", r"nice",
        r"like (?:this|that)", r"mess", r"sorted", r"fix(?:ed)?", r"show(?:ed)? up", r"money",
        r"short of", r"tricky",
    ),
    address=(
        r"you", r"your", r"yours", r"yourself",
    ),
    accusing=(
        r"scandal(?:s|ous|ously)?", r"corrupt(?:ion)?", r"corruptly", r"stole(?:n)?",
        r"steal(?:s|ing)?", r"thie(?:f|ves)", r"loot(?:ed|ing)?", r"embezzl\w+",
        r"fraud(?:sters?|ulent|ulently)?", r"crooks?", r"criminals?", r"lied", r"liars?", r"lies",
        r"cheat(?:s|ed|ing)?", r"cover(?:ed)?[- ]?ups?", r"disgrac\w+",
        r"shame(?:ful|fully|less)?", r"outrag\w+", r"catastroph\w+",
        r"disast(?:er|ers|rous|rously)", r"appalling\w*", r"horrif\w+", r"incompeten\w+",
        r"greed\w*", r"negligent", r"reckless\w*", r"deliberately",
        r"beyond (?:any |all |a |reasonable )*doubt", r"without (?:a |any )?doubt",
        r"proves? that", r"proof that", r"undeniabl\w+", r"unquestionabl\w+", r"blatant\w*",
        r"worst \w+ ever",
        r"(?:total|complete|utter)(?:ly)? (?:failure|failed|chaos|collapse|useless|broken)",
        r"do(?:es)? not care", r"don't care", r"doesn't care", r"not give a damn",
    ),
    sweeping=(
        r"always", r"never", r"everyone", r"everybody", r"nobody", r"no one", r"everything",
        r"everywhere", r"nowhere", r"obvious(?:ly)?", r"clearly", r"certain(?:ly)?",
        r"definite(?:ly)?", r"surely", r"undoubtedly", r"of course", r"proves?", r"proven",
        r"guarantee[sd]?", r"inevitabl[ey]", r"no doubt", r"doubtless",
        r"in every (?:case|district|year|instance)",
        r"all (?:\w+ ){0,2}(?:districts|municipalities|councils|schools|hospitals|officials|"
        r"reports|citizens|people|governments)",
        r"will (?:\w+ )?(?:lead|cause|result|become|collapse|continue|fail|improve|rise|"
        r"fall|be|get|never|soon|solve|grow|worsen|increase|happen|repeat)",
        r"(?:is|are) (?:going|bound|set) to",
        r"the (?:real|true|only) (?:reason|cause|explanation)",
        r"because (?:they|he|she|nobody|no one|officials|management|politicians) (?:\w+ "
        r"){0,2}(?:want\w*|refus\w+|ignor\w+|lack\w*|did not bother|hoped|feared|know|care)",
        r"(?:must|has to|have to) (?:have|be)", r"entirely", r"completely", r"totally",
        r"absolutely", r"exactly (?:why|what)", r"as (?:everyone|we all) knows??",
        r"it is (?:a fact|well known)", r"the (?:best|worst|biggest)",
        r"every (?:single|district|municipality|official|year|citizen)", r"simply",
        r"dramatic(?:ally)?", r"massive(?:ly)?", r"huge", r"drastic(?:ally)?",
    ),
    advising=(
        r"(?:you|we|everyone|voters|parliament|the public|citizens) (?:should|must|need to|"
        r"ought to)",
        r"should (?:resign|be (?:fired|sacked|jailed|arrested|ashamed))",
        r"must (?:resign|go|be punished)", r"deserves? to", r"don't (?:trust|believe)",
        r"do not (?:trust|believe)", r"(?:it is )?time to", r"make no mistake", r"remember that",
    ),
    hedged=(
        r"about", r"approximately", r"around", r"roughly", r"nearly", r"almost",
        r"some \d[\d,. ]*", r"in part", r"partly", r"partially", r"mainly", r"mostly", r"largely",
        r"may", r"might", r"could", r"appears?(?: to)?", r"seems?(?: to)?", r"suggests?",
        r"indicat(?:e|es|ed|ing)", r"likely", r"unlikely", r"possibl[ey]", r"perhaps",
        r"probabl[ey]", r"estimated", r"at least", r"at most", r"up to",
        r"not (?:known|stated|clear|specified|given|reported)",
        r"does not (?:say|state|give|specify|mention|show)",
        r"do not (?:say|state|give|specify|show)",
        r"is not (?:known|stated|clear|specified|given|explained)", r"unclear", r"uncertain",
        r"among the (?:\w+ ){0,2}(?:examined|sampled|audited|reviewed|inspected)", r"sampled?",
        r"in the (?:passages|documents|reports|sources) (?:available|found|provided|retrieved)",
        r"as of", r"as at", r"in some (?:cases|districts)", r"in several (?:cases|districts)",
        r"cannot be (?:concluded|determined|established|verified)", r"alleged(?:ly)?",
        r"reported(?:ly)?", r"on the basis of", r"based on", r"tends? to", r"insofar as",
        r"to the extent",
    ),
    attributed=(
        r"according to",
        r"(?:report|reports|audit|auditor|auditors|auditor general|office|ministry|"
        r"committee|agency|study|survey|review|council|management|officer|court|source|"
        r"document|passage|statement|author)s? (?:\w+ ){0,4}(?:states?|stated|found|finds|"
        r"notes?|noted|reported|reports|observed|concluded|explained|says?|said|"
        r"attribut(?:es|ed)|recommend(?:s|ed)|identified|shows?|showed|advised|wrote|writes|"
        r"describes?|described|cited|estimate[sd]?|argued|indicate[sd]?|lists?)",
        r"(?:was|were|is|are) (?:\w+ )?(?:reported|attributed|noted|observed|described|"
        r"stated|cited) (?:by|to|as|in)",
        r"(?:states?|stated|said|says|reported|noted|found|explained|observed|concluded|"
        r"argued|claimed) that",
        r"(?:he|she|they) (?:said|stated|argued|explained|noted|claimed)",
        r"in the (?:\w+ ){0,2}(?:report|view|opinion|judgment|assessment) of",
        r"as reported (?:by|in)", r"as stated (?:by|in)", r"per the", r"citing", r"quoted?",
        r"the audit (?:\w+ )?of",
    ),
    nothing=(
        r"(?:did|does|do|was|were) (?:not|n't) (?:\w+ )?(?:speak|say|talk|discuss|address|"
        r"examine|audit|concern|comment|appear|audited|examined|discussed|addressed|"
        r"recorded|documented)",
        rf"(?:no|not any|none of the|without any) (?:\w+ ){{0,3}}{_THING}",
        r"(?:nothing|none) (?:in the|on|about|for|from|that (?:matches|fits)|matches|"
        r"matched|fits)",
        r"(?:nothing|none) (?:was|is|were|could be|has been|can be) (?:found|available|"
        r"recorded|reported|retrieved|located)",
        r"nothing (?:\w+ ){0,2}(?:found|matches|matched|recorded|relevant|available|exists)",
        r"(?:could|can|did|do|does|was|were|am|are) ?(?:not|n't) (?:\w+ ){0,3}(?:find|found|"
        r"locate|identify|see|have|hold|contain|cover|include|appear|match|exist|available|"
        r"mention|report|list)\w*",
        r"cannot (?:\w+ ){0,2}(?:find|locate|identify|see|answer|say)", r"can't find",
        r"couldn't find", r"don't (?:have|see|find)", r"didn't find",
        r"(?:isn't|aren't|is not|are not) in (?:my|the|our|any)",
        r"doesn't (?:contain|cover|include|exist|match|mention|have)",
        r"isn't (?:any|available|covered)", r"aren't any",
        r"there(?:'s| is| are| were| was) (?:nothing|none)",
        r"(?:is|are|was|were) not (?:\w+ )?(?:found|available|covered|included|listed|in the)",
        r"found (?:nothing|none|no)",
        r"(?:holds?|has|have|contains?|includes?|covers?) (?:no|nothing|none)",
        r"unable to (?:find|locate|identify|answer)", r"failed to find",
        r"(?:returned|gave|yielded) (?:no|nothing|0|zero)", r"no matches?", r"no match",
        r"zero (?:results|matches|hits)", r"empty result",
        r"came (?:back|up) empty", r"(?:collection|archive|database|material) is silent",
        r"(?:is|are) missing from",
        r"not (?:part|within the scope) of (?:the|this) (?:collection|corpus|archive|material)",
        r"(?:outside|beyond) (?:the|this) (?:collection|corpus|archive|material|period)",
        r"not in (?:the|this|my|our) (?:collection|corpus|archive|material|documents|"
        r"reports|data)",
    ),
    finding=(
        r"(?:audit|auditors?|auditor general|committee|inspectors?|inspection|review|"
        r"reviewers?|court|police|investigation|management|ministry|council|study) (?:\w+ "
        r"){0,3}(?:found|identified|noted|observed|reported|saw|detected|established|did "
        r"not|does not|has|had|could not)",
        r"(?:report|document|letter|statement)s? (?:states?|stated|says?|said|notes?|noted) that",
        r"(?:was|were) (?:provided|submitted|given|supplied|presented) (?:by|to|for) the",
    ),
    widened=(
        r"instead",
        r"(?:the )?(?:most recent|latest|last) (?:available )?(?:year|report|figures|data)",
        r"(?:broaden|widen|expand|extend|relax|loosen|drop|remov|lift|ignor|adjust|chang|"
        rf"disregard)(?:ed|ing|s|es|ped|ping|e)? (?:\w+ ){{0,4}}{_SEARCH}",
        rf"{_SEARCH} (?:\w+ ){{0,3}}(?:broadened|widened|expanded|extended|relaxed|loosened|"
        r"dropped|removed|lifted|ignored)",
        rf"without (?:the |that |this |any |using )*(?:\w+ ){{0,3}}{_SEARCH}",
        r"(?:the )?(?:closest|nearest|next best)",
        r"(?:dropp|ignor|remov|relax|lift|leav|disregard|set|put)(?:ed|ing|ting|ped|ping) "
        r"(?:\w+ ){0,3}(?:filter|year|district|place|restriction|limit|condition|party|"
        r"speaker|name|source|out|aside)\w*",
        r"(?:dropped|ignored|removed|relaxed|lifted|left out|disregarded|set aside|waived) "
        r"(?:the|that|this|your)",
        r"(?:searched|looked|checked|looking|searching|widened|broadened|expanded) (?:\w+ "
        r"){0,4}(?:other|all|neighbou?ring|adjacent|earlier|later|whole|entire|different|"
        r"similar|every|any|more widely|more broadly|nationwide|previous|next)",
        r"(?:for|from|in|on|across) (?:the )?(?:whole|entire) (?:country|region|nation|"
        r"period|collection)",
        r"(?:other|neighbou?ring|nearby|adjacent|previous|earlier|later|all) (?:years?|"
        r"districts?|places?|regions?|municipalities|periods?|speakers?|parties) (?:show|"
        r"report|instead|are|is|were|had|say|do)",
        r"(?:similar|related|comparable) (?:cases?|reports?|findings?|questions?|matters?|"
        r"information)",
        r"(?:regardless|irrespective) of (?:the )?\w+", r"more general(?:ly)?",
        r"in general terms", r"alternatively,? (?:the|here)",
        r"(?:what|here) (?:\w+ ){0,3}(?:is|are) (?:\w+ ){0,3}(?:available|instead|nearest|"
        r"closest)",
        r"(?:here (?:is|are)|below (?:is|are)|the following is) (?:\w+ ){0,6}(?:for|from|"
        r"on) (?:other|all|the|neighbou?ring|\d{4})",
        r"(?:answer|results?|figures?|following) (?:\w+ ){0,3}(?:covers?|concerns?|refers? "
        r"to|relates? to|comes? from|are from|is from) (?:\w+ ){0,2}(?:other|another|"
        r"different|all|the (?:whole|year|previous|next|nearest))",
    ),
    merely_possible=(
        r"(?:i )?(?:can|could|may|might|would|shall) (?:\w+ ){0,3}(?:search|look|broaden|"
        r"widen|expand|check|try|drop|remove|show|help|ignore|relax|extend|offer|provide)",
        r"if you (?:like|want|wish|prefer|would like)",
        r"(?:did|have|has|was|were|do) ?(?:not|n't) (?:\w+ )?(?:broaden|widen|expand|relax|"
        r"drop|search|remove|extend)\w*",
        r"try (?:\w+ ){0,3}(?:instead|another|a different|broadening|widening|removing)",
        r"(?:you|one) (?:can|could|may|might|should) (?:\w+ ){0,2}(?:search|look|try|check|"
        r"broaden|widen|ask)",
        r"would need to", r"consider (?:searching|broadening|widening|trying|removing)",
        r"without (?:broadening|widening|relaxing|dropping)",
    ),
    scope=(
        r"(?:collection|corpus|archive|material|documents?|reports?|data|records?|coverage|"
        r"passages?) (?:available |here |only |provided )*(?:covers?|starts?|begins?|ends?|"
        r"runs?|spans?|includes?|contains?|extends?|goes?|go|are limited|is limited|are "
        r"available)",
        r"(?:holds?|has|have|contains?) (?:\w+ ){0,2}(?:documents?|reports?|passages?|years?)",
    ),
    asking=(
        r"please (?:\w+ )?(?:specify|clarify|confirm|state|indicate|provide|give|tell|say|"
        r"choose|rephrase|check|let me know|name)",
        r"(?:let me know|tell me|specify|say|state|indicate|choose) (?:which|what|whether|"
        r"if you (?:meant|mean|want)|the (?:year|district|place|name|period))",
        r"(?:could|can|would) you (?:\w+ )?(?:specify|clarify|confirm|tell me|say|rephrase|"
        r"indicate)",
        r"(?:i|we) need to know (?:which|what|whether)",
        r"i would need (?:a|the|another) (?:year|district|place|name|different)",
    ),
    courtesy=(
        r"(?:is|was) there anything else", r"anything else",
        r"(?:can|may|could) i (?:help|assist|be of)",
        r"(?:do|did) (?:that|this|it) (?:help|answer)",
        r"does (?:that|this) (?:help|answer|make sense)",
        r"any (?:other|more|further) questions?",
        r"(?:would|do) you (?:like|need|want) (?:any |some )?(?:more|further|additional|"
        r"other) (?:help|information|details|assistance)",
        r"what else", r"how (?:else )?can i help", r"was this helpful", r"who knows",
        r"did you know", r"why (?:does|did|is) (?:this|that|it) matter",
        r"you may (?:ask|wonder)", r"so what", r"what does (?:this|that) mean",
    ),
    quantity=(
        r"how (?:many|much|long|old|far|high|large|often)", r"when (?:was|were|did|is|will)",
        r"which year", r"what year", r"what (?:did|does) (?:\w+ ){1,4}cost",
    ),
    turning=(
        r"but", r"however", r"though", r"whereas", r"while", r"so i", r"therefore", r"yet",
    ),
)  # fmt: skip
