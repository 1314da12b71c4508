"""Closed lists of words, English and Swedish, written for this judge."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a list, which white space parts."""
    return frozenset(text.split())


def _groups(text: str) -> tuple[str, ...]:
    """The groups of a list, which semicolons part, white space made single."""
    return tuple(" ".join(group.split()) for group in text.split(";"))


FUNCTION_WORDS = word_set(
    """
    a an the this that these those there here it its he him his she her hers they them their
    theirs we us our ours you your yours i me my mine who whom whose which what when where why how
    and or but nor so yet if then than as at by for from in into of off on onto out over to up
    upon with within about above across after against along among around before behind below
    between beyond during since through throughout toward towards under until via per is are was
    were be been being am do does did done doing have has had having can could may might must
    shall should will would ought also just very too more most much many some any all both each
    every other others another such same own only even still already again once however therefore
    thus hence moreover furthermore additionally meanwhile instead otherwise because although
    though while whereas whether not no never none neither without s t d ll re ve m e g eg ie etc
    en ett den det de dem dess dessa detta denna denne han hon honom henne hans hennes deras vi
    oss vår vårt våra ni er ert era jag mig min mitt mina du dig din ditt dina man sig sin sitt
    sina och eller men utan så om då när där här som att för av på till från med mellan mot över
    vid efter före genom hos inom kring längs bland bakom ur ut upp ner sedan medan eftersom
    därför dock samt både varje alla allt hela någon något några ingen inget inga inte ej icke
    aldrig varken är var vara varit blir blev bli blivit har hade ha haft kan kunde ska skall
    skulle vill ville må måste bör borde få får fick också bara redan ännu endast mycket mer mest
    många än vad vem vilken vilket vilka hur varför t.ex bl.a dvs ju nog väl
    """
)
"""Words that carry no content."""

AUXILIARIES = word_set(
    """
    is are was were has have had does did do will would can could may might should must är var har
    hade blir blev kan kunde ska skulle vill ville måste bör fick får
    """
)
"""Verbs that may follow a name."""

PAST = word_set(
    """
    made spent paid held lost sold bought left got kept sent took gave began built ran saw won
    wrote fell rose grew found said told went came put cut met owed used gick tog lade föll sade
    gav fann stod köpte sålde betalade begärde sökte steg sjönk krävde
    """
)
"""Past tenses that no ending tells."""

SYNONYMS = _groups(
    """
    use used using spend spent spending expend expended expenditure utilise utilised utilize
    utilized; money fund funds cash funding medel pengar; pay paid payment payments betala
    betalade betalat betalas utbetalning; staff employee employees personnel worker workers
    personal anställda anställd; increase increased increases rise rose risen grow grew grown
    growth climb climbed ökade öka ökat ökar ökning steg stigit höja höjs höjdes; decrease
    decreased decreases fall fell fallen decline declined drop dropped reduce reduced reduction
    shrank minska minskade minskat minskar minskning sjönk sänka sänkt sänks; show showed shown
    reveal revealed reveals find found finding findings indicate indicated note noted observe
    observed establish established visa visade visar framgår konstaterade; say said says state
    stated states mention mentioned tell told explain explained säga säger sade uppger uppgav
    hävdar påpekar; cause caused causes reason reasons because attribute attributed blame blamed
    cite cited orsak orsaken beror berodde; buy bought purchase purchased procure procured
    procurement procurements acquire acquired köpa köpte köpt inköp upphandling; build built
    construct constructed construction erect erected bygga byggde byggt byggs byggas uppförs;
    begin began begun start started starts commence commenced börja började inleda inledde starta
    startade; end ended finish finished complete completed conclude concluded close closed avsluta
    avslutade avslutas slut; need needs needed require required requires requirement necessary
    behöva behöver behov kräver krävs nödvändig; help helps helped assist assisted assistance aid
    support supported hjälpa hjälp stöd stödja; give gave given provide provided provides supply
    supplied avail availed deliver delivered ge ger gav tillhandahålla; get got obtain obtained
    receive received gain gained collect collected få fick erhålla erhöll; big large great major
    huge substantial considerable stor stora stort större; ask asked asks request requested
    requests demand demanded demands begära begärde krävde; small little minor slight liten litet
    små mindre; school schools skola skolor skolan; doctor doctors physician physicians medic
    läkare; drug drugs medicine medicines medication medications läkemedel medicin mediciner; road
    roads street streets väg vägar vägen; house houses home homes housing dwelling dwellings
    bostad bostäder hus; company companies firm firms business businesses enterprise enterprises
    bolag företag; contract contracts agreement agreements deal kontrakt avtal; job jobs post
    posts position positions tjänst tjänster befattning; vacant vacancy vacancies unfilled empty
    vakant vakanta obesatt obesatta; old aged elderly older gammal gamla äldre; child children kid
    kids barn barnen; person persons people individual individuals människa människor personer
    folk; year years annual annually yearly år året årlig årligen; month months monthly månad
    månader; day days daily dag dagar; week weeks weekly vecka veckor; want wants wanted wish
    wishes propose proposes proposed proposal suggest suggested vill föreslå föreslår föreslog
    förslag; think thinks believe believes consider considers opinion anser tycker menar; allow
    allows allowed permit permits permitted let tillåta tillåter; ban banned prohibit prohibited
    forbid forbidden förbjuda förbjuds förbud; expired outdated expiry utgånget utgångna; lack
    lacks lacked missing absent absence sakna saknar saknas saknade brist; broken defective
    nonfunctional faulty trasig trasiga; delay delayed delays late belated försena försenad
    försenades försening; plan planned plans planning intend intended planera planerade planerad;
    visit visited visits inspect inspected inspection inspections besök besöka; cost costs price
    prices kostnad kostnader kosta kostar kostade pris priset; farmer farmers peasant peasants
    bonde bönder lantbrukare; pupil pupils student students learner learners elev elever; patient
    patients patienter; railway railways rail railroad järnväg järnvägen järnvägar; government
    state staten regeringen regering; minister ministers ministern statsråd; parliament riksdag
    riksdagen; sum amount amounts total totals totalled totalling summa belopp beloppet uppgick;
    part portion share proportion del andel; almost nearly nästan närmare; about approximately
    roughly around circa cirka ungefär omkring; quick quickly fast rapid rapidly swift snabb
    snabbt; risk risks danger threat fara hot; result results outcome outcomes resultat; loss
    losses lose lost förlust förluster förlora förlorade; owed owe owes debt debts outstanding
    unpaid skuld skulder obetald obetalda; land plot plots mark; register registered record
    recorded registry registrera registrerad; check checked verify verified confirm confirmed
    control kontrollera kontroll; change changes changed alter altered modify modified ändra
    ändrade ändring; choose chose chosen select selected pick picked välja valde valt; create
    created creates make made makes produce produced skapa skapade skapar; stop stopped cease
    ceased halt halted stoppa stoppade; remove removed delete deleted ta; average mean genomsnitt
    genomsnittlig genomsnittet snitt; borrow loan loans lend lent lending lån låna; vehicle
    vehicles car cars bil bilar fordon; water vatten; tax taxes taxation skatt skatter skatten;
    wage wages salary salaries pay remuneration lön löner lönen; prison prisons jail jails
    fängelse; hospital hospitals clinic clinics sjukhus sjukhuset; village villages by byar; city
    cities town towns stad städer
    """
)
"""Groups of words that may stand for each other; the first names the group.

Only what leaves a statement true: no word stands with its opposite.
"""

KINDS_OF_NAMES = word_set(
    """
    district city town municipality ministry minister council county region province village
    parish government local central national department agency authority office commission
    committee board court university college school hospital company corporation bank party
    parliament republic report act law bill programme program project plan fund model system
    service centre center union chief officer administrative accounting director general auditor
    secretary president chairman manager clerk commissioner member management north south east
    west northern southern eastern western new upper lower river lake street road kommun län stad
    departement myndighet verk nämnd utskott parti riksdag regering ledamot talman statsråd
    universitet skola sjukhus bolag förbund
    """
)
"""Words that say what kind of thing a name names, as :func:`names.name_key` gives them."""

OPPOSITES = _groups(
    """
    increase increased increases increasing rise rose risen rises grew grown grows growth /
    decrease decreased decreases decreasing fall fell fallen falls declined declines decline
    dropped drops reduced reduces reduction shrank shrunk; ökade ökar öka ökat ökning höja höjs
    höjdes höjer höjd steg stiger stigit växte / minskade minskar minska minskat minskning sänka
    sänks sänktes sänker sänkt sjönk sjunker sjunkit föll; above exceeded exceeds / below; higher
    highest / lower lowest; högre högst / lägre lägst; longer longest / shorter shortest; larger
    largest bigger biggest greater greatest / smaller smallest; störst största större / minst
    minsta mindre; best better / worst worse; bäst bättre / sämst sämre; early earlier earliest /
    late later latest; first / last; första / sista; accepted accept approved approve approves /
    rejected reject refused refuse declined; allowed allow allows permitted / banned ban
    prohibited prohibits forbidden; tillåta tillåter tillåts / förbjuda förbjuder förbjuds;
    support supports supported / oppose opposes opposed; strengthen strengthened strengthens /
    weaken weakened weakens; stärka stärks stärker / försvaga försvagas försvagar; improved
    improves improve / worsened worsens worsen deteriorated; förbättrades förbättras / försämrades
    försämras; always / never; alltid / aldrig; all / none; opened opens open / closed closes;
    öppnas öppnades öppna / stängas stängdes stänga stängs; urban / rural; male males / female
    females; public / private; statlig statliga offentlig offentliga / privat privata; north
    northern / south southern; east eastern / west western; norra norr / södra söder; östra öster
    / västra väster; minimum / maximum; surplus / deficit; överskott / underskott; income revenue
    / expenditure; complied complies comply / violated violates breached; adequate sufficient /
    inadequate insufficient; tillräcklig tillräckliga tillräckligt / otillräcklig otillräckliga
    otillräckligt; legal / illegal; complete / incomplete; functional functioning working / broken
    nonfunctional defective; gained / lost; won / lost; included includes / excluded excludes;
    cheap cheaper / expensive; billigare / dyrare
    """
)
"""Pairs of poles, ``one / the other``: words that turn a statement into its opposite."""

BODIES = tuple(
    sorted(
        word_set(
            """
            verket styrelsen inspektionen revisionen myndigheten partiet unionen listan rådet
            nämnden bolaget banken kommunen departementet utskottet domstolen samlingen makten
            bevakningen förbundet koncernen institutet universitetet högskolan sjukhuset
            stiftelsen föreningen regionen polisen tidningen
            """
        )
    )
)
"""Endings of Swedish names of bodies, which are names where they open a sentence too."""
