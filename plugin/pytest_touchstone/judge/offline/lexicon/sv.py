"""Swedish."""

from __future__ import annotations

from pytest_touchstone.judge.offline.lexicon.language import Language

_THING = (
    r"(?:information|uppgift(?:er)?|rapport(?:er)?|dokument|träff(?:ar)?|resultat|data|källor|källa"
    r"|anföranden?|inlägg|debatt(?:er)?|stycken?|underlag|material|handling(?:ar)?|protokoll"
    r"|granskning(?:ar)?|svar|siffror|sådan\w*|avsnitt|poster?|texter?|belägg|utlåtanden?)"
)
_SEARCH = (
    r"(?:sökning\w*|filt(?:er|ret|ren|reringen)|villkor\w*|avgränsning\w*|urval\w*|"
    r"kriteri\w+|frågan)"
)

SWEDISH = Language(
    function_words="""
en ett den det de dem denna detta dessa sådan sådant sådana varje någon något några ingen inget inga
inte ej alla allt båda annan annat andra samma egen eget egna mer mest mindre minst många mycket få
flera och eller men samt utan så dock om ifall innan tills medan eftersom fast fastän trots att än
då när var där här varför hur vad vilken vilket vilka vem vars som han honom hans hon henne hennes
hen deras vi oss vår vårt våra ni er ert era du dig din ditt dina jag mig min mitt mina man sig sin
sitt sina är var varit vara blir blev bli blivit har hade ha haft gör gjorde göra gjort ska skall
skulle kan kunde kunna må måste bör borde vill ville av i på hos vid för med från till in ut upp ned
ner om över under mellan bland genom efter mot inom utom längs kring bakom per via också även bara
endast ännu redan igen nu sedan dessutom därför alltså därmed således emellertid däremot både
antingen varken ju väl nog
""",
    furniture=(
        r"sid(?:a|an)? \d+(?: ?(?:av|\(|/) ?\d+\)?)?", r"s\. ?\d+",
        r"alla rättigheter förbehållna", r"upphovsrätt", r"integritetspolicy", r"användarvillkor",
        r"kakor", r"om kakor", r"cookie(?:inställningar|s|policy)?", r"webbkarta",
        r"innehåll(?:sförteckning)?", r"tabellförteckning", r"figurförteckning", r"förkortningar",
        r"sakregister", r"(?:hoppa|gå) till (?:huvud)?innehåll(?:et)?", r"till toppen",
        r"tillbaka till toppen", r"huvudmeny", r"meny", r"sök", r"logga (?:in|ut)",
        r"registrera(?: dig)?", r"dela(?: på .*)?", r"skriv ut(?: sidan)?", r"ladda ner.*",
        r"ladda ned.*", r"prenumerera", r"nyhetsbrev", r"följ oss.*", r"kontakt(?:a oss)?",
        r"om oss", r"om webbplatsen", r"om \w+", r"hem", r"start(?:sida)?", r"nästa",
        r"föregående", r"läs mer", r"visa (?:alla|mer|fler)", r"filter", r"filtrera",
        r"tillgänglighet(?:sredogörelse)?", r"lyssna", r"hjälp", r"vanliga frågor",
        r"press(?:meddelanden)?", r"lediga jobb", r"jobba hos oss", r"sociala medier", r"språk",
        r"svenska", r"senast (?:uppdaterad|granskad|ändrad).*", r"publicerad.*", r"e-tjänster",
        r"tel(?:efon)?\b.*", r"fax\b.*", r"e-post\b.*", r"box \d+.*", r"besöksadress.*",
        r"postadress.*", r"org\.?(?:anisations)?(?:nr|nummer)\b.*", r"bankgiro\b.*",
        r"plusgiro\b.*", r"dnr\b.*", r"diarienummer.*", r"isbn\b.*", r"issn\b.*", r"utkast",
        r"bilaga \w+", r"not \d+", r"källförteckning", r"referenser",
        r"litteratur(?:förteckning)?", r"genvägar", r"ämnen", r"relaterat",
        r"relaterade (?:länkar|sidor)", r"självservice", r"lättläst", r"in english",
        r"godkänn(?: alla)?(?: kakor)?", r"anpassa", r"neka alla", r"tryck(?:t|eri).*",
        r"denna sida har avsiktligt lämnats tom", r"\d+ \(\d+\)", r"a till ö", r"populärt",
    ),
    standing=(
        r"prenumerera på", r"(?:vårt|våra) nyhetsbrev", r"fyll i din e-post\w*", r"följ oss på",
        r"genom att prenumerera", r"sökresultat för", r"sortera efter",
        r"använder (?:\w+ ){0,3}(?:kakor|cookies)", r"(?:kakor|cookies) för att",
        r"genom att (?:fortsätta|använda|surfa|besöka) (?:\w+ ){0,4}(?:webbplatsen|sidan|"
        r"tjänsten)",
        r"alla rättigheter (?:är )?förbehållna",
        r"(?:får|må) (?:inte|ej) (?:\w+ )?(?:kopieras|återges|mångfaldigas)",
        r"utan (?:skriftligt )?(?:tillstånd|medgivande)",
        r"detta (?:meddelande|mejl|brev) (?:är|kan)", r"utgör inte (?:\w+ )?rådgivning",
        r"prenumerera på (?:vårt|våra)", r"anmäl dig till",
        r"dela (?:den här )?(?:sidan|artikeln)", r"aktivera javascript", r"din webbläsare",
        r"god revisionssed i sverige", r"revisionsbevis (?:jag|vi) har inhämtat",
        r"tillräckliga och ändamålsenliga som grund", r"ansvar enligt dessa standarder",
        r"ger en i alla väsentliga avseenden rättvisande",
        r"(?:det är|har) (?:\w+ ){0,3}ansvaret? för att (?:årsredovisningen|räkenskaperna) "
        r"upprättas",
        r"kammaren övergick till", r"kammaren (?:biföll|avslog|beslutade|ajournerade)",
        r"överläggningen (?:\w+ )?(?:avslutad|förklarades)", r"ärendet skulle avgöras",
        r"beslut (?:skulle )?fattas? (?:senare|den)", r"talarlistan", r"röstförklaring",
        r"minuter för sitt anförande", r"medges replik",
        r"(?:begära|begärt|rätt till) (?:\w+ )?replik", r"ordet är (?:fritt|ditt)",
        r"mötet (?:öppnades|avslutades|ajournerades|förklarades)",
        r"(?:sammanträdet|plenum) (?:\w+ )?(?:öppnades|avslutades|ajournerades)",
        r"justera protokollet", r"föregående protokoll", r"dagordningen godkändes",
        r"yrka(?:r|t|de)? (?:\w+ ){0,3}(?:bifall|avslag)",
        r"yrkar (?:jag|vi) (?:\w+ ){0,2}(?:bifall|avslag)",
        r"bifall till (?:\w+ ){0,3}(?:reservation|motion|utskottet|förslaget)\w*",
        r"för tids vinning", r"står (?:\w+ )?bakom (?:\w+ ){0,2}reservationer",
        r"instämmer i (?:\w+ )?(?:det )?anförandet?",
        r"tack(?:ar)? för (?:ordet|repliken|frågan|svaret|debatten|anförandet|inlägget)",
        r"(?:vill|ber att få|får) (?:\w+ ){0,4}tacka", r"rikta ett (?:\w+ )?tack",
        r"tack för att (?:jag|vi|ni) fick", r"(?:att få |jag |får |och )återkomm(?:a|er)",
        r"vill inte föregripa", r"bereds i (?:departementet|utskottet|regeringskansliet)",
        r"hälsa (?:\w+ ){0,3}välkomna",
        r"(?:framföra|önska) (?:\w+ ){0,3}(?:en hälsning|god jul|glad|trevlig|skön)",
        r"min (?:tal)?tid (?:är ute|räcker|har)",
        r"hänvisar (?:jag )?till vad (?:\w+ ){0,3}(?:anfört|sagt)",
    ),
    slang=(
        r"asså", r"typ,", r"fan", r"jävla", r"jävlig\w*", r"skit\w*", r"helvete", r"sjukt \w+",
        r"as(?:bra|dålig\w*|kul|dyr\w*)", r"sug(?:er|it)", r"kass\w*", r"idiot\w*",
        r"dumskall\w*", r"korkad\w*", r"tjuvar(?:na)?", r"lögnare\w*", r"skurk\w*", r"lol",
        r"omg", r"kolla in", r"fett (?:bra|kul|nice)", r"grymt (?:bra|kul)", r"softa?", r"nice",
        r"cool\w*", r"soft", r"snubbar?", r"snubbe\w*", r"tjej(?:er|erna)", r"killar(?:na)?",
        r"stålar", r"\d+ spänn", r"missa inte", r"passa på att köpa",
        r"fantastisk\w* erbjudande\w*", r"otrolig\w*", r"helt sjukt", r"galet", r"knäpp\w*",
        r"clowner", r"pajas\w*", r"usel\w*", r"patetisk\w*", r"nä", r"japp", r"jajamän\w*",
        r"köp nu", r"bäst någonsin",
    ),
    chatty=(
        r"(?:bra|kul|toppen|intressant|fin|rolig|jättebra|utmärkt) fråga",
        r"vilken (?:bra|kul|intressant) fråga", r"tack för (?:din|er) fråga", r"tack för att du",
        r"hej(?:san)?", r"tjena", r"hallå", r"javisst", r"absolut", r"självklart!?", r"såklart",
        r"visst", r"hoppas (?:det|att|detta) (?:\w+ )?(?:hjälper|hjälpte|var)",
        r"hör (?:gärna )?av (?:dig|er)", r"säg (?:bara )?till", r"(?:det är )?lugnt",
        r"inga problem", r"ingen fara", r"oj", r"wow", r"jo,", r"nåväl", r"ja,", r"kul att du",
        r"glad att", r"låt oss (?:titta|se|kolla|dyka)", r"gissa vad", r"tro det eller ej",
        r"vet du vad", r"kort och gott", r"ärligt talat", r"faktiskt så",
        r"ha en (?:bra|fin|trevlig|härlig)", r"lycka till", r"kul fakta", r"den goda nyheten",
        r"skämt åsido", r"tyvärr för", r"okej", r"ok", r"du vet", r"som sagt", r"puh",
        r"jag hjälper (?:dig )?gärna",
    ),
    everyday=(
        r"massor(?: av)?", r"en massa", r"jätte\w+", r"ganska",
        r"rätt (?:så|mycket|många|dålig\w*|bra)", r"lite(?: grann)?", r"grejer?", r"grejen",
        r"saker", r"fixa(?:r|t|de)?", r"kolla(?:r|t|de)?", r"funka(?:r|t|de)?", r"pengarna",
        r"pengar", r"nog", r"ju", r"liksom", r"sån(?:t|a)?", r"nån(?:ting)?", r"nåt", r"nåra",
        r"sen", r"dej", r"mej", r"ett par", r"hur som helst", r"ta tag i", r"koll", r"strul\w*",
        r"krångl\w*", r"dålig\w*", r"jobbig\w*", r"faktiskt", r"kanske", r"helt enkelt",
        r"slut på", r"ungar(?:na)?", r"ihop", r"på gång",
    ),
    address=(),
    accusing=(
        r"skandal\w*", r"korrup\w+", r"stulit", r"stal", r"stjäl\w*", r"stöld\w*", r"tjuv\w*",
        r"plundr\w+", r"förskingr\w+", r"bedräg\w+", r"svindl\w+", r"fifflat", r"fiffel",
        r"fuskat", r"fusk", r"brottslig\w*", r"kriminell\w*", r"ljög", r"ljuger", r"ljugit",
        r"lögn\w*", r"mörkar", r"mörklagt", r"mörkade", r"skamlig\w*", r"skäms", r"skam(?:men)?",
        r"katastrof\w*", r"fruktansvärd\w*", r"förfärlig\w*", r"horribel\w*", r"inkompeten\w+",
        r"girig\w*", r"oansvarig\w*", r"medvetet", r"avsiktligt",
        r"utan (?:minsta |allt |något )?tvivel", r"bortom (?:allt |rimligt |varje )?tvivel",
        r"bevisar att", r"bevis(?:et)? (?:för|på) att", r"obestridlig\w*", r"ovedersäglig\w*",
        r"uppenbart fel", r"total(?:t)? (?:misslyckande|misslyckad\w*|kaos|haveri)", r"haveri",
        r"fullständig\w* (?:kaos|misslyckande\w*)", r"bryr sig inte", r"struntar i",
        r"struntade i", r"vansinne\w*", r"vansinnig\w*", r"oförlåtlig\w*", r"värsta någonsin",
    ),
    sweeping=(
        r"alltid", r"aldrig", r"alla vet",
        r"alla (?:kommuner|myndigheter|skolor|sjukhus|regioner|politiker|tjänstemän|"
        r"medborgare|människor|vet)",
        r"varenda", r"samtliga (?:kommuner|myndigheter|skolor|regioner|sjukhus)",
        r"ingen (?:vill|vet|bryr|tar)", r"överallt", r"ingenstans", r"allting", r"självklart",
        r"uppenbar(?:t|ligen)?", r"givetvis", r"naturligtvis", r"säkerligen", r"helt säkert",
        r"definitivt", r"utan tvekan", r"otvivelaktigt", r"bevisar", r"bevisat", r"garanter\w+",
        r"oundviklig\w*", r"tveklöst", r"kommer (?:\w+ )?att", r"leder (?:oundvikligen )?till",
        r"den (?:verkliga|egentliga|enda|sanna) (?:orsaken|anledningen|förklaringen)",
        r"(?:beror|handlar) (?:helt|enbart|bara|självklart) (?:på|om)",
        r"eftersom (?:de|ingen|politikerna|ledningen|kommunen|tjänstemännen) (?:\w+ "
        r"){0,2}(?:vill|ville|vägrar|vägrade|bryr|struntar|orkar|orkade|saknar vilja)",
        r"måste (?:ha|vara)", r"helt och hållet", r"fullständigt", r"totalt", r"absolut",
        r"som alla vet", r"det är ett faktum",
        r"varje (?:kommun|skola|myndighet|politiker|medborgare)", r"den (?:bästa|sämsta|största)",
        r"dramatisk\w*", r"enorm\w*", r"drastisk\w*", r"klart att", r"tydligt att", r"står klart",
    ),
    advising=(
        r"(?:du|ni|vi|man|alla|väljarna|riksdagen|medborgarna) (?:borde|måste|bör|behöver)",
        r"borde (?:avgå|sparkas|straffas|skämmas)", r"måste (?:avgå|straffas|bort)",
        r"det är dags att", r"dags att", r"lita inte på", r"tro inte på", r"kom ihåg att",
        r"förtjänar att",
    ),
    hedged=(
        r"cirka", r"ca", r"ungefär", r"omkring", r"runt \d[\d ]*", r"nästan", r"knappt", r"drygt",
        r"närmare \d[\d ]*", r"delvis", r"till (?:viss )?del", r"i huvudsak", r"främst",
        r"huvudsakligen", r"kan (?:ha|bero|tyda|vara|inte|ännu)", r"kunde", r"tycks", r"verkar",
        r"förefaller", r"tyder på", r"indikerar", r"sannolikt", r"troligen", r"möjligen",
        r"möjligt", r"eventuellt", r"kanske", r"uppskattas?", r"uppskattningsvis", r"minst",
        r"högst", r"upp till", r"framgår (?:inte|ej)", r"anges (?:inte|ej)",
        r"inte (?:känt|angivet|klarlagt|klart|preciserat)", r"nämns inte", r"säger inte",
        r"redovisas inte", r"oklart", r"osäkert",
        r"i (?:de|det) (?:granskade|undersökta|tillgängliga|funna|hittade)\b.*", r"stickprov\w*",
        r"(?:den|per) \d+ \w+ \d{4}", r"i (?:vissa|några|flera) (?:fall|kommuner)",
        r"går inte att (?:avgöra|fastställa|säga)", r"påstås", r"uppges", r"utifrån",
        r"på grundval av", r"såvitt", r"i den mån", r"bedöms", r"beräknas",
    ),
    attributed=(
        r"enligt",
        r"(?:rapport|granskning|revision|revisor|myndighet|utskott|kommun|riksrevision|"
        r"kommitté|utredning|minister|ledamot|styrelse|nämnd|källa|dokument|anförande|"
        r"ledning|direktör|förvaltning|departement|parti|hon|han|de)\w* (?:\w+ "
        r"){0,4}(?:konstatera(?:r|de|t)|uppger|uppgav|anger|angav|skriver|skrev|fann|"
        r"noterade|noterar|bedöm(?:er|de)|anser|ansåg|redovisa(?:r|de)|rapporterade|visar|"
        r"visade|pekar|pekade|framhåller|framhöll|rekommendera(?:r|de)|påstår|påstod|"
        r"hävda(?:r|de)|sade|säger|sa|menar|menade|förklarade|förklarar|beskriver|beskrev|"
        r"uppskatta(?:r|de)|lyfter|nämner|nämnde)",
        r"(?:konstaterar|uppger|anger|skriver|noterar|bedömer|anser|säger|sade|menar|hävdar|"
        r"visar|framhåller) (?:\w+ )?att",
        r"framgår av", r"framkom i", r"rapporterades?", r"anges i", r"redovisas i",
        r"(?:uppges|anges|påstås|sägs) (?:\w+ ){0,2}", r"med hänvisning till", r"citera\w*",
        r"sägs bero", r"förklaras av", r"tillskrivs",
    ),
    nothing=(
        r"(?:talade|talar|sade|säger|yttrade|nämnde|nämner|uttalade|debatterade|skrev|berör|"
        r"berörde|handlar|behandlar|behandlade|granskades|granskade) (?:\w+ ){0,2}(?:inte|"
        r"ej|aldrig|inget|ingenting)",
        rf"(?:inga|inget|ingen|inte några|inte något|inte någon) (?:\w+ ){{0,3}}{_THING}",
        r"ingenting (?:\w+ ){0,3}(?:finns|hittades|matchar|om|för|i)",
        r"(?:hittar|hittade|hittat|finner|fann|funnit|ser|har|hade|gav|ger) (?:jag |vi |"
        r"tyvärr |här |\w+en )*(?:inget|inga|ingenting|ingen)",
        r"(?:finns|fanns|kunde|kan|gick|går) (?:\w+ ){0,3}(?:inget|ingenting)",
        r"(?:finns|fanns|hittas|hittades|hittar|hittade|återfinns|ingår|omfattas|täcks|"
        r"förekommer|nämns|redovisas|finner|fann) (?:\w+ ){0,3}(?:inte|ej|varken)",
        r"(?:inte|ej) (?:\w+ ){0,2}(?:hitta|hittat|hittade|finna|funnit|finns|återfinns|"
        r"hittas|svara)",
        r"kan inte (?:\w+ ){0,3}(?:hitta|finna|svara|besvara|se)", r"saknas",
        r"saknar (?:\w+ ){0,2}(?:uppgift\w*|rapport\w*|underlag\w*|dokument\w*|information|"
        r"material\w*)",
        r"(?:underlaget|materialet|dokumenten|rapporterna) räcker inte",
        r"framgår (?:inte|ej) (?:av|i)", r"inga träffar", r"ingen träff", r"noll träffar",
        r"utan (?:träff|träffar|resultat)", r"gav (?:inget|inga|inte)",
        r"matchar (?:inte|ingen|inga|inget)", r"motsvarar (?:inga|inte)",
        r"(?:innehåller|omfattar|täcker|rymmer) (?:\w+ ){0,2}(?:inte|inga|inget|ingen|ingenting)",
        r"går inte att (?:hitta|finna|besvara)",
        r"(?:inget|inga|ingen|ingenting|varken \w+ eller \w+) (?:\w+ ){0,3}(?:hittas|"
        r"hittades|finns|fanns|om|för|från|matchar|matchade)",
        r"utanför (?:samlingen|materialet|underlaget|perioden|arkivet)",
        r"inte (?:med )?i (?:samlingen|materialet|underlaget|arkivet|rapporterna)",
    ),
    finding=(
        r"(?:revisor|granskning|riksrevision|utskott|nämnd|inspektör|inspektion|polis|"
        r"domstol|utredning|ledning|kommun|myndighet|kommitté)\w* (?:\w+ ){0,3}(?:fann|"
        r"hittade|konstaterade|noterade|såg|upptäckte|har inte|hade inte|kunde inte|hade|har)",
        r"(?:rapporten|dokumentet|brevet) (?:anger|uppger|säger|konstaterar|noterar) att",
    ),
    widened=(
        r"i stället", r"istället",
        r"(?:det|den|de) sena(?:ste|st) (?:året|åren|rapporten|uppgifterna|tillgängliga)",
        r"senast tillgängliga",
        r"(?:vidga|bredda|utöka|utvidga|släpp|ta(?:git|r)?|tog|bort(?:se|sett)|ändra|lätta|"
        rf"ignorera|strukit|strök|hoppa|lyft)\w* (?:\w+ ){{0,5}}{_SEARCH}",
        rf"{_SEARCH} (?:\w+ ){{0,2}}(?:vidga|bredda|utöka|utvidga|släpp|ändra|lätta|ignorera)\w*",
        r"(?:års|orts|person|namn|parti)\w*(?:krav|villkor|filt|gräns|avgränsning)\w* "
        r"(?:\w+ ){0,2}(?:släpp|lyft|stryk|bort)\w*",
        rf"utan (?:\w+ ){{0,3}}{_SEARCH}", r"(?:det|den|de) (?:som (?:är|ligger) )?närmast\w*",
        r"närmaste (?:år|träff|motsvarighet|rapport|uppgift|tillgängliga)\w*",
        r"närmast till hands", r"(?:bortsett|bortser|bortsåg) (?:jag |vi |därför )*från",
        r"(?:sökt|sökte|söker|letat|letade|tittat|tittade) (?:\w+ ){0,4}(?:hela|andra|alla|"
        r"övriga|närliggande|bredare|vidare|tidigare|senare|angränsande|intilliggande|"
        r"liknande)",
        r"(?:för|i|från|över) hela (?:landet|riket|regionen|länet|perioden|samlingen|"
        r"kommunen|materialet)",
        r"(?:andra|övriga|närliggande|angränsande|tidigare|senare) (?:år|kommuner|orter|län|"
        r"regioner|perioder|ledamöter|partier) (?:visar|finns|redovisar|har|hade|är|anger|"
        r"säger)",
        r"(?:liknande|närliggande|jämförbara|motsvarande|besläktade) (?:fall|frågor|"
        r"uppgifter|rapporter|ärenden|anföranden|debatter|granskningar|iakttagelser)",
        r"oavsett (?:\w+)", r"mer allmänt", r"generellt sett",
        r"(?:här (?:är|följer|finns)|nedan (?:följer|finns|visas)|följande) (?:\w+ "
        r"){0,6}(?:för|från|om|i|gäller|avser) (?:andra|hela|alla|övriga|\d{4})",
        r"(?:svaret|uppgifterna|resultatet|det följande|siffrorna) (?:\w+ )?(?:gäller|avser|"
        r"rör|kommer från|bygger på) (?:\w+ ){0,3}(?:andra|annan|annat|hela|alla|övriga|"
        r"närmaste|året|föregående|nästa)",
        r"struk(?:it|na)? (?:\w+ )?(?:kravet|villkoret|filtret|begränsningen)",
        r"(?:tagit|tog) bort (?:\w+ ){0,2}(?:året|orten|kommunen|namnet|partiet|kravet|"
        r"begränsningen|filtret|villkoret|talaren)",
        r"släppt(?:e)? (?:\w+ )?(?:kravet|året|filtret|begränsningen|villkoret)",
        r"utan hänsyn till",
    ),
    merely_possible=(
        r"(?:kan|kunde|skulle kunna|får) (?:jag |vi |du |man |även |också |gärna |i stället "
        r"|istället )*(?:söka|leta|titta|bredda|vidga|utöka|prova|pröva|ta bort|visa|hjälpa|"
        r"bortse|släppa)",
        r"om du vill", r"om ni vill", r"om så önskas",
        r"(?:har|hade) (?:jag |vi )?inte (?:breddat|vidgat|utökat|sökt|tagit bort|släppt)",
        r"(?:prova|pröva|försök|testa) (?:\w+ ){0,4}(?:i stället|istället|annat|annan|"
        r"bredare|andra)",
        r"utan att (?:bredda|vidga|utöka|släppa|ta bort)", r"överväg att",
        r"du (?:kan|kunde|bör|behöver) (?:\w+ ){0,2}(?:söka|prova|vidga|bredda|ange|ändra)",
        r"breddade inte", r"vidgade inte",
    ),
    scope=(
        r"(?:samlingen|materialet|underlaget|arkivet|rapporterna|dokumenten|uppgifterna|"
        r"protokollen|debatterna) (?:\w+ ){0,2}(?:omfattar|täcker|börjar|slutar|sträcker|"
        r"innehåller|gäller|rör|avser|begränsas|finns)",
        r"som (?:omfattar|täcker) (?:\w+ ){0,2}år",
    ),
    asking=(
        r"(?:ange|precisera|förtydliga|specificera|bekräfta|skriv|berätta|säg|uppge|välj) "
        r"(?:gärna |då |i så fall |vänligen )*(?:vilken|vilket|vilka|vad|om du|ett|en|året|"
        r"orten|kommunen|namnet|vem|din|hur)",
        r"(?:vänligen|var god(?: och)?|var vänlig(?: och)?) (?:\w+ )?(?:ange|precisera|"
        r"förtydliga|specificera|bekräfta|uppge|välj|omformulera|kontrollera)",
        r"jag behöver veta (?:vilken|vilket|vilka|vad|om)",
        r"(?:kan|skulle|vill) du (?:\w+ ){0,2}(?:precisera|förtydliga|ange|specificera|"
        r"bekräfta|omformulera)",
    ),
    courtesy=(
        r"något (?:annat|mer|ytterligare) (?:jag|du|som|vi|ni)",
        r"(?:kan|får) jag (?:\w+ )?hjälpa (?:dig|er|till)",
        r"(?:har|finns) (?:du|ni|det) (?:några |fler |ytterligare |andra )+frågor",
        r"(?:hjälpte|hjälper|räcker|besvarar) (?:det|detta|svaret)",
        r"undrar du (?:över )?något (?:mer|annat)", r"vill du veta mer",
        r"är det något (?:mer|annat)", r"vad mer (?:kan|vill)", r"vad betyder (?:det|detta)",
        r"varför är (?:det|detta)", r"vem vet", r"vi?sste du att", r"vet du att",
        r"var svaret till hjälp",
    ),
    quantity=(
        r"hur (?:många|mycket|länge|lång|långt|stor|stort|ofta|gammal|hög)",
        r"när (?:var|öppnades|blev|byggdes|infördes|ska|kom|skedde)", r"vilket år",
        r"vad kostade", r"vad kostar",
    ),
    turning=(
        r"men", r"däremot", r"dock", r"medan", r"så jag", r"därför", r"emellertid",
    ),
)  # fmt: skip
