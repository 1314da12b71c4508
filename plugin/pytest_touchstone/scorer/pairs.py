"""Pairs of paragraph and source whose answer is known: they decide what a scorer's values mean.

Each paragraph has a source that covers it, in other words and among other statements, and one
about something else.  So a cross-encoder is sure, while two embeddings are merely similar.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Pair(NamedTuple):
    """A paragraph, a source that clearly covers it, and one that clearly does not."""

    lang: Literal["en", "sv"]
    paragraph: str
    covering: str
    unrelated: str


PAIRS: tuple[Pair, ...] = (
    Pair(
        "en",
        "The district spent 4.2 million shillings on repairing the road to the hospital in 2021.",
        "Works. In 2021 the district spent 4.2 million shillings on repairing the road to the"
        " hospital. The contractor handed the road over in November, two months late.",
        "Bees tell each other by a dance in which direction flowers are to be found.",
    ),
    Pair(
        "en",
        "Water freezes at zero degrees Celsius at normal pressure.",
        "At normal pressure, water freezes at zero degrees Celsius and boils at one hundred. Salt"
        " lowers the freezing point, which is why roads are salted in winter.",
        "The orchestra opened its season with a symphony by Sibelius and sold out every evening.",
    ),
    Pair(
        "en",
        "The library is closed on Mondays and opens at ten on all other days.",
        "Opening hours: the library opens at ten on all days except Mondays, when it is closed."
        " Books can be returned in the box beside the entrance at any time.",
        "Granite is an igneous rock that forms where magma cools slowly far below the surface.",
    ),
    Pair(
        "en",
        "Marie Curie received the Nobel Prize in Chemistry in 1911 for discovering polonium and"
        " radium.",
        "Marie Curie was born in Warsaw. In 1911 she received the Nobel Prize in Chemistry for"
        " discovering polonium and radium, her second one after the prize in physics.",
        "To change a bicycle tyre, loosen the wheel, let out the air and lift the tyre off the rim"
        " with two levers.",
    ),
    Pair(
        "sv",
        "Riksdagen beslutade att höja anslaget till polisen med 300 miljoner kronor år 2022.",
        "Budgeten för 2022 antogs i december. Riksdagen beslutade att höja anslaget till polisen"
        " med 300 miljoner kronor, medan domstolarnas anslag lämnades oförändrat.",
        "Blåbär växer i hela landet och plockas i juli och augusti, helst efter några dagar utan"
        " regn.",
    ),
    Pair(
        "sv",
        "Vänern är Sveriges största sjö och den tredje största i Europa.",
        "Sverige har omkring hundratusen sjöar. Vänern är landets största sjö och den tredje"
        " största i Europa; genom Göta älv rinner vattnet vidare till havet.",
        "Föreställningen börjar klockan nitton och biljetter säljs i kassan från en timme innan.",
    ),
    Pair(
        "sv",
        "Ledamoten krävde att regeringen skulle förbjuda plastpåsar i livsmedelsbutiker.",
        "I debatten om miljön krävde ledamoten att regeringen skulle förbjuda plastpåsar i"
        " livsmedelsbutiker. Ministern svarade att frågan utreds och att förslag väntas i vår.",
        "Ett gitarrackord i moll får sin klang av den lilla tersen ovanför grundtonen.",
    ),
    Pair(
        "sv",
        "Degen ska jäsa i två timmar innan brödet gräddas i 225 grader.",
        "Blanda mjöl, vatten, jäst och salt. Degen ska jäsa i två timmar innan brödet gräddas i"
        " 225 grader i omkring en halvtimme. Låt det svalna på galler.",
        "Högsta domstolen avslog överklagandet, och därmed står hovrättens dom fast.",
    ),
)
