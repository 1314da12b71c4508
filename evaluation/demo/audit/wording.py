"""How the reports say it: two or three templates for each kind of finding, as in the real thing.

A template names figures (``{amount}``), the body (``{ent}``), its accounting officer
(``{officer}``) and the year (``{fy}``).  Some name neither body nor year: there only the
metadata of the chunk tell whose finding it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Wording(NamedTuple):
    """One template: heading, first and second sentence with figures, closing sentence without."""

    heading: str
    first: str
    second: str
    closing: str


TITLES: Mapping[str, str] = {
    "payroll": "Payroll management",
    "procurement": "Procurement",
    "advances": "Administrative advances",
    "land": "Land titles",
    "drugs": "Essential medicines and health supplies",
    "pdm": "Parish Development Model",
    "livelihood": "Youth and women livelihood programmes",
    "schools": "School inspection",
    "water": "Rural water supply",
    "revenue": "Local revenue performance",
    "absorption": "Absorption of funds",
    "staffing": "Staffing gaps",
    "roads": "Road maintenance",
    "arrears": "Domestic arrears",
    "mischarge": "Mischarge of expenditure",
    "vehicles": "Fleet management",
    "opinions": "Audit opinions",
}

LOCAL_WORDING: Mapping[str, tuple[Wording, ...]] = {
    "payroll": (
        Wording(
            "Payment of salaries to persons no longer in service.",
            "A review of the payroll of {ent} for {fy} revealed that {amount} was paid to"
            " {staff} former employees who had retired, died, absconded or been transferred.",
            "The average delay in removing a name was several months after separation from the"
            " service.",
            "This is contrary to the Public Service Standing Orders, which require the"
            " Responsible Officer to remove an employee from the payroll in the month of"
            " separation, and it caused a financial loss to Government.",
        ),
        Wording(
            "Delayed deletion from the payroll.",
            "{ent} delayed to delete {staff} employees from the payroll after they had separated"
            " from the service.",
            "Consequently, salaries amounting to {amount} were irregularly paid during the year"
            " under review.",
            "Delayed deletion leads to loss of public funds and overstates the wage bill reported"
            " in the statement of financial performance.",
        ),
        Wording(
            "Irregular salary payments.",
            "It was observed that the entity paid {amount} as salary during the year to persons"
            " whose services had ended.",
            "The payments concerned {staff} individuals, mainly primary school teachers and"
            " health workers.",
            "Management did not carry out the monthly payroll cleaning that the guidelines on"
            " decentralised salary payments prescribe.",
        ),
    ),
    "procurement": (
        Wording(
            "Procurements outside the plan.",
            "In {fy}, {ent} carried out procurements worth {amount} that did not appear in the"
            " approved procurement plan.",
            "In addition, {files} procurement files lacked key records such as evaluation reports"
            " and contract implementation plans.",
            "Procurement outside the plan contravenes the Public Procurement and Disposal of"
            " Public Assets Regulations and affects the implementation of planned activities.",
        ),
        Wording(
            "Unplanned procurement and missing records.",
            "Contracts valued at {amount} were awarded by {ent} without being part of the"
            " procurement plan for the year.",
            "Management could not avail complete records for {files} procurements.",
            "I could not confirm that value for money was obtained or that competition had been"
            " fair in these circumstances.",
        ),
        Wording(
            "Weaknesses in procurement.",
            "{files} procurement files that were sampled were incomplete at the time of audit.",
            "Furthermore, works, goods and services of {amount} were acquired although the plan"
            " for the year did not provide for them.",
            "The Contracts Committee did not report these departures to the Authority in its"
            " monthly returns as required by the law.",
        ),
    ),
    "advances": (
        Wording(
            "Unaccounted for advances.",
            "Out of the funds advanced by {ent} to staff in {fy}, {amount} remained unaccounted"
            " for at the time of audit.",
            "The balance was held by {officers} officers.",
            "Section 43 of the Public Finance Regulations requires that advances are retired"
            " within sixty days, and delayed accountability may lead to falsification of"
            " documents.",
        ),
        Wording(
            "Outstanding administrative advances.",
            "{officers} officers of {ent} who had received money on their personal accounts for"
            " official activities had not submitted accountability documents.",
            "The outstanding sum was {amount}.",
            "In the absence of accountability I could not confirm that the money was used for the"
            " intended purposes during the year under review.",
        ),
        Wording(
            "Funds not accounted for.",
            "Contrary to the regulations, a total of {amount} advanced to staff lacked"
            " supporting documents such as activity reports, acknowledgement receipts and"
            " payment lists.",
            "The advances had been issued to {officers} members of staff.",
            "Further advances were made to several of them before the earlier ones had been"
            " retired, which the regulations do not permit.",
        ),
    ),
    "land": (
        Wording(
            "Lack of land titles.",
            "{ent} did not have certificates of title for {untitled} of the {plots} pieces of"
            " land in its asset register as at 30th June of {fy}.",
            "The land hosts schools, health centres and sub-county headquarters.",
            "Land without titles is exposed to encroachment and disputes, contrary to the"
            " accounting instructions that call for safe custody of public assets.",
        ),
        Wording(
            "Untitled public land.",
            "Inspection showed that {untitled} pieces of land held by {ent} were neither surveyed"
            " nor registered in its name.",
            "The register lists {plots} pieces in total.",
            "There is a risk that the land will be grabbed, and the value of non-current assets"
            " in the financial statements cannot be relied on.",
        ),
    ),
    "drugs": (
        Wording(
            "Stock-outs of essential medicines.",
            "In {fy}, tracer medicines were out of stock for {days} days on average in"
            " {facilities} health facilities of {ent} that were sampled.",
            "Expired drugs valued at {expired} had not been destroyed.",
            "Stock-outs force patients to buy medicines from private pharmacies and undermine the"
            " delivery of the minimum health care package to the communities.",
        ),
        Wording(
            "Management of medicines.",
            "{ent}: a review of stock cards at {facilities} health centres showed that essential"
            " medicines were missing for {days} days on average.",
            "Expired items with a value of {expired} were found in the stores.",
            "Expired items occupy scarce storage space and may find their way back to the public"
            " if they are not collected in time.",
        ),
        Wording(
            "Availability of essential drugs.",
            "Health units under the entity ran out of essential drugs for an average period of"
            " {days} days during the year; {facilities} units were visited.",
            "The audit team also noted expired supplies worth {expired}.",
            "This affected the treatment of malaria and of mothers in labour, and patients were"
            " referred to distant hospitals.",
        ),
    ),
    "pdm": (
        Wording(
            "Parish Revolving Fund not accessed by beneficiaries.",
            "Of the money that {ent} disbursed under the Parish Development Model in {fy},"
            " {amount} had not been accessed by the enterprise groups by year end.",
            "The money was idle on the accounts of {saccos} PDM SACCOs.",
            "Delayed access defeats the purpose of the model, which is to move subsistence"
            " households into the money economy within the planned period.",
        ),
        Wording(
            "Implementation of the Parish Development Model.",
            "In {ent}, {saccos} parish SACCOs had received the revolving fund without lending it"
            " to households.",
            "The funds that lay on their accounts at the close of the year came to {amount}.",
            "The intended increase of household incomes was therefore not achieved, and the funds"
            " are exposed to the risk of diversion.",
        ),
    ),
    "livelihood": (
        Wording(
            "Non-recovery of livelihood funds.",
            "{ent} had not recovered {amount} that was due under the Youth Livelihood Programme"
            " and the women entrepreneurship programme by the end of {fy}.",
            "The debt was owed by {groups} groups.",
            "Failure to recover the funds denies other groups the opportunity to benefit from the"
            " revolving nature of the programmes.",
        ),
        Wording(
            "Overdue repayments by youth and women groups.",
            "{groups} groups in {ent} were in default on the repayment of the revolving funds.",
            "An amount of {amount} was overdue at the close of the year.",
            "A number of groups could not be traced during the field inspections, and the"
            " recoverability of the balances is doubtful.",
        ),
    ),
    "schools": (
        Wording(
            "Inadequate inspection of schools.",
            "{ent} inspected {inspected} of its {schools} primary schools at least once a term in"
            " {fy}.",
            "Inspection reports were not always discussed with head teachers.",
            "Schools that are not inspected are likely to suffer from teacher absenteeism and"
            " poor learning outcomes, contrary to the basic requirements of the Ministry.",
        ),
        Wording(
            "School inspection.",
            "Only {inspected} primary schools were inspected every term by the education"
            " department.",
            "{ent} has {schools} such schools.",
            "The inspection grant was partly spent on other activities, and the department keeps"
            " no register of visits for the year under review.",
        ),
    ),
    "water": (
        Wording(
            "Non-functional water points.",
            "At the end of {fy}, {broken} of the {points} water points in {ent} were not"
            " functional.",
            "Most of them are boreholes fitted with hand pumps.",
            "Communities around the affected sources resort to unprotected springs and swamps,"
            " which exposes them to water-borne diseases.",
        ),
        Wording(
            "Functionality of rural water facilities.",
            "Field inspection in {ent} revealed that {broken} water facilities had broken down.",
            "The district's inventory holds {points} facilities.",
            "Safe water coverage therefore stays below the target of the National Development"
            " Plan for the period under review.",
        ),
    ),
    "revenue": (
        Wording(
            "Shortfall in local revenue.",
            "{ent} budgeted to collect local revenue of {budget} in {fy} but realised {collected}.",
            "The shortfall was {shortfall}.",
            "Shortfalls in local revenue lead to failure to implement planned activities and to"
            " accumulation of arrears owed to suppliers.",
        ),
        Wording(
            "Under-collection of own revenue.",
            "Own source collections of {ent} fell short of the approved estimates by {shortfall}.",
            "The estimates stood at {budget}, of which {collected} was collected and banked.",
            "Under-collection was most pronounced in property rates, market dues and trading"
            " licences during the year under review.",
        ),
    ),
    "absorption": (
        Wording(
            "Under-absorption of released funds.",
            "{amount} of the money warranted to {ent} in {fy} was not spent and was swept back to"
            " the Consolidated Fund.",
            "As a result {projects} projects were implemented partially or not at all.",
            "Under-absorption denies the community services for which the funds had been"
            " appropriated by Parliament and approved by the Council.",
        ),
        Wording(
            "Unspent balances.",
            "At the close of the financial year {ent} held unspent balances of {amount}, which"
            " were returned to the Treasury.",
            "{projects} planned projects stalled because of this.",
            "The balances relate mainly to wage, gratuity and the transitional development grant"
            " of the year under review.",
        ),
    ),
    "staffing": (
        Wording(
            "Understaffing.",
            "Of the {posts} approved posts in {ent}, {vacant} were vacant at the end of {fy}.",
            "Among them were those of heads of department and medical officers.",
            "Understaffing overstretches the available staff beyond their capacity, creates"
            " job-related stress and negatively affects service delivery.",
        ),
        Wording(
            "Staffing gaps.",
            "The staff list of {ent} shows {vacant} positions that were not filled.",
            "The approved structure provides for {posts} positions.",
            "Key duties are carried out by officers in acting capacity, some of them for more"
            " than the six months that the Standing Orders allow.",
        ),
    ),
    "roads": (
        Wording(
            "Planned road works not undertaken.",
            "{ent} planned to maintain {planned} km of roads in {fy} and maintained {done} km;"
            " {missed} km were not worked on.",
            "Inspection of sampled roads showed potholes and blocked culverts.",
            "Roads that are not maintained deteriorate fast and raise the cost of transport of"
            " agricultural produce to the markets.",
        ),
        Wording(
            "Road maintenance backlog.",
            "Under the annual work plan, {planned} km of the network of {ent} were to receive"
            " routine manual or mechanised maintenance.",
            "The audit found that {missed} km had been left out and {done} km had been done.",
            "Road gangs were not paid for several months, and mechanised works started only in"
            " the fourth quarter of the year under review.",
        ),
    ),
}

CENTRAL_WORDING: Mapping[str, tuple[Wording, ...]] = {
    "payroll": (
        Wording(
            "Salaries and pension paid in error.",
            "The {ent} paid {amount} in {fy} to {staff} persons who had left its service.",
            "Part of the payments continued for more than a year.",
            "This was caused by failure to update the payroll in time and constitutes a loss of"
            " public funds to Government.",
        ),
        Wording(
            "Delays in removal of staff from the payroll.",
            "{staff} officers of the {ent} stayed on the payroll after their separation from the"
            " service.",
            "They received {amount} during the year under review.",
            "The Human Resource Department did not reconcile the payroll with the nominal roll"
            " as the guidelines require.",
        ),
    ),
    "advances": (
        Wording(
            "Unaccounted for funds.",
            "An amount of {amount} advanced to staff of the {ent} for workshops and field"
            " activities in {fy} had not been accounted for.",
            "{officers} officers were involved.",
            "Delayed accountability creates opportunities for the falsification of documents and"
            " makes recovery difficult when staff leave.",
        ),
        Wording(
            "Advances through personal bank accounts.",
            "The {ent} deposited money for official activities on the personal accounts of"
            " {officers} officers, who did not retire it.",
            "The unaccounted for balance was {amount}.",
            "The practice contravenes Treasury Instructions and exposes public funds to the risk"
            " of loss through misuse.",
        ),
    ),
    "arrears": (
        Wording(
            "Accumulation of domestic arrears.",
            "Domestic arrears of the {ent} stood at {amount} at the end of {fy}.",
            "They were owed to {suppliers} suppliers, landlords and utility companies.",
            "Accumulation of arrears contravenes the commitment control system and may attract"
            " litigation and interest against Government.",
        ),
        Wording(
            "Outstanding commitments.",
            "The statement of outstanding commitments of the {ent} shows bills of {amount} that"
            " were not settled.",
            "{suppliers} creditors were waiting for their money.",
            "The arrears hamper budget performance in the following year because outstanding"
            " commitments are a first call on its budget.",
        ),
    ),
    "procurement": (
        Wording(
            "Delayed contracts.",
            "{contracts} contracts of the {ent} with a value of {amount} were behind schedule at"
            " the end of {fy}.",
            "Liquidated damages had not been charged.",
            "Delayed works lead to cost overruns and deny the public the benefits of the"
            " investments for which Parliament appropriated money.",
        ),
        Wording(
            "Contract management.",
            "Works and supplies of {amount} contracted by the {ent} were not completed within the"
            " agreed time.",
            "{contracts} contracts were affected.",
            "Contract managers had not been appointed in all cases, and progress reports were"
            " missing from the files reviewed.",
        ),
    ),
    "absorption": (
        Wording(
            "Low absorption of loans and grants.",
            "{amount} of the externally financed budget of the {ent} was not absorbed in {fy}.",
            "The slow progress concerned {projects} projects.",
            "Low absorption attracts commitment fees on undisbursed loans and delays the"
            " achievement of the objectives of the projects.",
        ),
        Wording(
            "Unutilised project funds.",
            "{projects} donor projects under the {ent} did not use the money released to them.",
            "At year end {amount} remained on the project accounts.",
            "Extensions of the closing dates had to be negotiated with the development partners"
            " at additional administrative cost.",
        ),
    ),
    "mischarge": (
        Wording(
            "Mischarge of expenditure.",
            "Expenditure of {amount} was charged by the {ent} in {fy} on items that do not"
            " reflect its nature.",
            "{votes} expenditure codes were affected.",
            "Mischarges undermine the budgeting process and the intentions of the appropriating"
            " authority, and lead to financial misreporting.",
        ),
        Wording(
            "Diversion of funds between items.",
            "The {ent} used money meant for other activities: {amount} was spent from {votes}"
            " budget lines for purposes for which they had not been voted.",
            "No authority for a virement was availed to the audit team.",
            "The affected activities for which the money had been voted could not be carried out"
            " during the year under review.",
        ),
    ),
    "vehicles": (
        Wording(
            "Grounded vehicles.",
            "{grounded} of the {fleet} vehicles of the {ent} were grounded at the end of {fy}.",
            "Some of them had been parked at garages for years.",
            "Grounded vehicles lose value through vandalism and affect supervision of the"
            " activities of the Ministry in the field.",
        ),
        Wording(
            "Management of the fleet.",
            "The {ent} has a fleet of {fleet} vehicles, of which {grounded} could not be driven.",
            "They had neither been repaired nor boarded off.",
            "Log books were not maintained, and the audit could not establish how much fuel the"
            " running vehicles consumed in the year under review.",
        ),
    ),
    "land": (
        Wording(
            "Untitled land.",
            "The {ent} holds {plots} pieces of land, of which {untitled} have no certificate of"
            " title as at the end of {fy}.",
            "Some of the land is occupied by third parties.",
            "Absence of titles exposes Government land to encroachment and to fraudulent"
            " transfers by unscrupulous persons.",
        ),
        Wording(
            "Lack of land titles.",
            "Certificates of title were not availed for {untitled} properties of the {ent}.",
            "Its register comprises {plots} properties.",
            "Ownership of the properties could not be confirmed, and the balance of non-current"
            " assets may be misstated for the year under review.",
        ),
    ),
}

RESPONSES = (
    "The {officer} attributed this to {reason}.",
    "In the response, the {officer} explained that the anomaly was due to {reason}.",
    "Management cited {reason} as the cause.",
)
RECOVERED = "By the time of writing this report, {recovered} had since been accounted for."
PROMISES = (
    "The {officer} pledged to follow up the matter before the next audit.",
    "I await the outcome of the efforts of management.",
    "A copy of the correspondence was availed to the audit team.",
)
ADVICES = (
    "I advised the {officer} to {advice}.",
    "The {officer} should {advice}.",
    "It is recommended that the {officer} should {advice}.",
)
PRIOR = "In the previous year the {name} had been {prior}."

RESPONSE_CHUNK = (
    "Management response on {topic}, {ent}, {fy}: {response} {promise} The response was"
    " considered during the exit meeting with management, and no further documents were submitted"
    " before this report was finalised."
)
ADVICE_CHUNK = (
    "Recommendation ({topic}, {short}, {fy}). {advice} The status of implementation will be"
    " reviewed in the subsequent audit. Accounting Officers are reminded that unimplemented"
    " recommendations are reported to the Public Accounts Committee of Parliament."
)

OVERVIEWS: Mapping[str, str] = {
    "payroll": "{bodies} local governments paid {amount} in salaries to {staff} persons who had"
    " left the service. The highest loss was in {top} ({top_figure}).",
    "procurement": "Procurements outside approved plans of {amount} were noted in {bodies} local"
    " governments; {files} files were incomplete. {top} had the largest amount ({top_figure}).",
    "advances": "In {bodies} local governments, {amount} advanced to {officers} officers was not"
    " accounted for. The largest balance was that of {top} ({top_figure}).",
    "land": "{untitled} of {plots} pieces of land in {bodies} local governments have no titles."
    " {top} has the largest number ({top_figure}).",
    "drugs": "Stock-outs of essential medicines were noted in {bodies} local governments, where"
    " {facilities} facilities were visited; expired drugs were worth {expired}. The longest"
    " stock-out was in {top} ({top_figure} days on average).",
    "pdm": "In {bodies} local governments, {amount} of the Parish Revolving Fund was idle on the"
    " accounts of {saccos} SACCOs. {top} had the largest idle sum ({top_figure}).",
    "livelihood": "{groups} youth and women groups in {bodies} local governments owed {amount}."
    " The largest overdue sum was in {top} ({top_figure}).",
    "schools": "In {bodies} local governments, {inspected} of {schools} primary schools were"
    " inspected at least once a term.",
    "water": "{broken} of {points} water points in {bodies} districts were not functional. {top}"
    " had the largest number ({top_figure}).",
    "revenue": "{bodies} local governments collected less than they had budgeted; the shortfall"
    " was {shortfall} against estimates of {budget}. It was largest in {top} ({top_figure}).",
    "absorption": "{amount} was not spent by {bodies} local governments and returned to the"
    " Treasury. {top} returned most ({top_figure}).",
    "staffing": "{vacant} of {posts} approved posts in {bodies} local governments were vacant."
    " {top} had the largest number of vacancies ({top_figure}).",
    "roads": "{missed} km of {planned} km of roads planned for maintenance in {bodies} local"
    " governments were not worked on. The largest backlog was in {top} ({top_figure} km).",
}
OVERVIEW_FRAMES = (
    "{heading}. Key finding of the consolidated report, {fy}. {body} Details per entity are in"
    " the annexed tables and in the individual reports to the Accounting Officers.",
    "{heading} in local governments ({fy}). {body} The trend calls for the attention of the"
    " Ministry of Local Government and of the Parliamentary committees on accounts.",
)
OPINIONS = (
    "Summary of audit opinions, {fy}. I audited {audited} entities. I issued {clean} unqualified"
    " opinions, {qualified} qualified opinions and {adverse} adverse opinions. The opinions are"
    " explained in the individual reports, which should be read together with this summary."
)
HIGHLIGHT = (
    "Cases in point: {heading}. {ent}, {fy}. {first} {second} The matter was brought to the"
    " attention of Council and is included here because of its materiality."
)

# Column headings of the annexed tables, and the fields below them.
TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "payroll": ("Entity | Irregular salary UGX m | Persons", ("amount", "staff")),
    "advances": ("Entity | Unaccounted UGX m | Officers", ("amount", "officers")),
    "land": ("Entity | Land without title | Land in register", ("untitled", "plots")),
    "drugs": ("Entity | Stock-out days | Expired UGX m", ("days", "expired")),
    "pdm": ("Entity | PRF idle UGX m | SACCOs", ("amount", "saccos")),
    "livelihood": ("Entity | Overdue UGX m | Groups", ("amount", "groups")),
    "water": ("Entity | Not functional | All water points", ("broken", "points")),
    "revenue": ("Entity | Budget UGX m | Collected UGX m", ("budget", "collected")),
}
YEAR_TABLES: Mapping[str, tuple[str, ...]] = {
    "2019": ("payroll", "advances", "water", "livelihood"),
    "2020": ("payroll", "advances", "drugs", "land"),
    "2021": ("payroll", "water", "livelihood", "revenue"),
    "2022": ("advances", "drugs", "pdm", "land"),
    "2023": ("payroll", "advances", "pdm", "water"),
}

THEME_TITLES: Mapping[str, str] = {
    "drugs": "Management of medicines in public health facilities",
    "land": "Management of public land",
    "payroll": "Special audit of the Government payroll",
    "pdm": "Roll-out of the Parish Development Model",
    "schools": "Inspection and conditions of primary schools",
    "water": "Sustainability of rural water supply",
}
THEME_TOPICS: Mapping[str, Mapping[str, str]] = {
    "drugs": {
        "stockcards": "Stock cards were not up to date in {percent} per cent of the {facilities}"
        " facilities sampled. Balances on the cards did not agree with physical counts, so that"
        " orders were based on guesswork.",
        "deliveries": "Of {cycles} delivery cycles examined, {late} were late by more than two"
        " weeks. The supplier explained that the last-mile distributors had not been paid.",
        "redistribution": "Medicines worth {amount} that were about to expire in some facilities"
        " of {districts} districts were not redistributed to facilities that lacked them.",
        "storage": "{stores} of the {visited} stores visited had no thermometer, no pallets or a"
        " leaking roof. Vaccines and insulin were kept at room temperature.",
        "budget": "The budget for medicines covered {percent} per cent of the estimated need. The"
        " unfunded part was {amount}, and facilities planned within ceilings that take no account"
        " of population growth.",
    },
    "land": {
        "register": "{bodies} of the {sampled} public bodies sampled keep no complete register of"
        " their land. Donations by communities were never recorded.",
        "encroachment": "Encroachers occupied {hectares} hectares at {sites} sites, among them"
        " school compounds, forest reserves and prison farms.",
        "courts": "There were {cases} court cases over public land, in which claims of {amount}"
        " had been lodged against Government.",
        "fees": "{amount} of premium and ground rent was not collected on {applications} leases"
        " that had been granted.",
        "boards": "{boards} District Land Boards were not fully constituted. On average a board"
        " had not met for {months} months, and applications were piling up.",
    },
    "payroll": {
        "validation": "Of {validated} employees called for validation, {missing} did not appear"
        " and could not be traced at their stations. They are presumed to be ghosts.",
        "birthdates": "{staff} employees in {districts} districts had changed their dates of birth"
        " compared with the national identity register, in most cases to postpone retirement.",
        "underpaid": "{staff} employees were paid less than the scale of their appointment; the"
        " under-payment was {amount}.",
        "loans": "Deductions of {amount} for {lenders} money lenders and banks were made without"
        " letters of undertaking. Some staff took home less than a third of their pay.",
        "files": "{percent} per cent of the {files} personal files requested lacked appointment"
        " letters, so that the entitlement to salary could not be confirmed.",
    },
    "pdm": {
        "staffing": "Parish chiefs had not been recruited in {vacant} of {parishes} parishes."
        " Their duties were assigned to volunteers without training.",
        "ineligible": "{amount} was lent to {households} households that did not qualify, such as"
        " salaried public servants and traders with established shops.",
        "training": "Only {percent} per cent of the {saccos} SACCOs sampled had received training"
        " in book keeping before money was sent to them.",
        "insurance": "Of {loans} loans sampled, {percent} per cent were covered by agricultural"
        " insurance, although the guidelines make the cover compulsory.",
        "data": "Data on {households} households in {parishes} parishes had not been entered into"
        " the information system, and the baseline survey was incomplete.",
    },
    "schools": {
        "reports": "In {percent} per cent of the {schools} schools sampled, the head teacher had"
        " received no written feedback from the last visit of an inspector.",
        "absent": "On the day of the audit visit {percent} per cent of the teachers on the staff"
        " lists of {schools} schools were absent without permission.",
        "funds": "Inspection grants of {amount} were diverted to other activities in {districts}"
        " districts.",
        "latrines": "{schools} schools had no separate latrines for girls. On average a latrine"
        " stance was shared by {pupils} pupils.",
        "inspectors": "There were {inspectors} inspectors in post. Each was responsible for"
        " {schools} schools on average.",
    },
    "water": {
        "quality": "{failed} of {tested} samples of water failed the test for faecal"
        " contamination. Results were not shared with the communities.",
        "committees": "{percent} per cent of the committees responsible for {sources} sources did"
        " not collect user fees or hold meetings.",
        "sites": "Of {drilled} boreholes drilled, {dry} were dry or of low yield because"
        " hydrogeological surveys were skipped or ignored.",
        "mechanics": "Only {mechanics} trained hand pump mechanics served {subcounties}"
        " sub-counties, and none of them had a complete tool kit.",
        "cost": "The average cost of a borehole was {amount}; {boreholes} contracts were compared."
        " Prices differed widely without reasons in the files.",
    },
}
THEME_FRAMES = (
    "{title}, {fy}. {body} The finding is based on field visits, interviews and a review of"
    " documents during the thematic audit.",
    "{body} The responsible Ministry took note of the finding and promised corrective action"
    " within the coming financial year.",
    "Thematic audit, finding: {body} Unless this is addressed, the objectives of the programme"
    " are unlikely to be met.",
)

BOILERPLATE = (
    "Report of the Auditor General on the financial statements of {label} for the year ended 30th"
    " June {year}. Page {page} of {pages}. Basis for opinion. I conducted my audit in accordance"
    " with International Standards of Supreme Audit Institutions. My responsibilities under those"
    " standards are further described in this report. I believe that the audit evidence I have"
    " obtained is sufficient and appropriate.",
    "Management responsibilities. The Accounting Officer of {label} is responsible for the"
    " preparation of financial statements in accordance with the law, and for such internal"
    " control as management determines necessary. Office of the Auditor General, Plot 00, Audit"
    " House, Kampala. {label}, 30th June {year}. Page {page} of {pages}.",
    "Key audit matters are those matters that, in my professional judgment, were of most"
    " significance in the audit of {label}. These matters were addressed in the context of the"
    " audit of the financial statements as a whole for the year ended 30th June {year}, and I do"
    " not provide a separate opinion on them. Page {page} of {pages}.",
)
FRAGMENTS = (
    "ounting Officer explained that the matter had been taken up with the relevant departments."
    " {short} {fy} | {page} | continued: iii) the register was not updated and the amounts"
    " involved in respect of",
    "(continued from previous page) and to the extent stated in the Treasury Instructions. The"
    " matter was raised in my earlier reports on {short}; refer to Appendix {page} for the list."
    " 4.{page} Follow-up of prior year audit recom-",
    "as at 30th June {year}. ii. Advances, payroll and drug stores of {short} were examined on a"
    " sample basis. iii. Details were requested from management but were not provid-",
)
DEBRIS = (
    "{short} {fy} Details Approved Revised Released Spent % Wage {a} {b} {b} {c} 9{d} Non-wage {e}"
    " {f} {f} {g} 8{d} Development {h} {a} {a} {e} 7{d} LG grants - - {c} {c} 100 Note {page} The"
    " accounting policies form part of these statements",
    "S/N Description Note {year} UGX Prior UGX 1 Cash and cash equivalents {d} {a},{b},{c} {e},"
    "{f},{g} 2 Receivables {page} {h},{a},{e} {b},{c},{f} Total assets {short} 3 Payables - {g},"
    "{h},{b} Net worth",
)
