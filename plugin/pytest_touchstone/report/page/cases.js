// The list of cases: search, filters, order; a case is built when it is opened.

const BATCH = 100; // rows put into the page at once
const control = (id) => document.getElementById(id);
const GRAVE = new Set(["error", "low", "silent", "contradiction", "behaviour", "unresolved"]);

let rows = [];
let telling = new Set(); // outcomes that tell one case from another

function options(id, entries) {
  control(id).append(...entries.map(([value, text]) => make("option", { value }, text)));
}

function fillControls() {
  const types = [...new Set(REPORT.cases.map((item) => item.type))];
  options("type", [["", "all"], ...types.map((type) => [type, words(type)])]);
  const there = new Set(REPORT.cases.flatMap((item) => item.outcomes));
  options("outcome", [["", "all"], ...REPORT.outcomes.filter(([key]) => there.has(key))]);
  options("measure", [["", "all"], ...REPORT.measures.map((measure, number) => [String(number), plain(measure.title)])]);
  options("order", [["file", "as in the file"], ["worst", "worst score first"], ["lost", "lost most to the baseline first"], ["won", "won most over it first"]]);
}

/** What can be searched of a case, folded alike. */
function folded(text) {
  return text.normalize("NFKC").toLowerCase();
}

function textOf(row) {
  if (row.text === null) {
    const { item } = row;
    const told = new Set();
    for (const play of item.plays) {
      told.add(play.answer || "");
      for (const [, , , why] of play.scores) told.add(why);
      for (const [, content] of play.conversation || []) told.add(content);
      for (const turn of play.earlier || []) told.add(turn.question);
    }
    row.text = folded([item.id, item.type, JSON.stringify(item.gold), item.gold.question, item.gold.answer || "", ...told].join("\n"));
  }
  return row.text;
}

/** Means over repeats of a measure: of the system, of the baseline; null where there is none. */
function scoresOf(row, measure) {
  row.scores ??= new Map();
  if (!row.scores.has(measure)) {
    const of = (system) => {
      const values = row.item.plays.filter((play) => REPORT.systems[play.system] === system)
        .flatMap((play) => play.scores.filter((score) => score[0] === measure && score[1] !== null).map((score) => score[1]));
      return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
    };
    row.scores.set(measure, [of(REPORT.system), REPORT.baseline === null ? null : of(REPORT.baseline)]);
  }
  return row.scores.get(measure);
}

function outcomeTitle(outcome) {
  return new Map(REPORT.outcomes).get(outcome);
}

function rowNode(row) {
  if (row.node) return row.node;
  const { item } = row;
  const badges = item.outcomes.filter((outcome) => telling.has(outcome))
    .map((outcome) => make("span", { class: GRAVE.has(outcome) ? "badge bad" : "badge" }, outcomeTitle(outcome)));
  const summary = [
    make("span", { class: "case-head" }, make("span", { class: "id" }, inline(item.id)), words(item.type), badges, make("span", { class: "score" })),
    make("span", { class: "question" }, inline(item.gold.question)),
  ];
  row.node = disclosure(summary, () => caseBody(item), { class: "case", id: `case-${row.number}` });
  return row.node;
}

function showScore(row, measure) {
  const node = row.node.querySelector(".score");
  if (measure === null) return node.replaceChildren();
  const [own, other] = scoresOf(row, measure);
  const places = REPORT.measures[measure].digits;
  const beside = other === null ? null : ` (baseline ${digits(other, places)})`;
  return node.replaceChildren(...[own === null ? "unscored" : digits(own, places), beside].filter(Boolean));
}

/** Rows that pass the filters, in the order asked for. */
function chosen() {
  const words_ = folded(control("search").value).split(/\s+/u).filter(Boolean);
  const type = control("type").value;
  const outcome = control("outcome").value;
  const measure = control("measure").value === "" ? null : Number(control("measure").value);
  const found = rows.filter(({ item }, at) =>
    (!type || item.type === type)
    && (!outcome || item.outcomes.includes(outcome))
    && (measure === null || item.plays.some((play) => REPORT.systems[play.system] === REPORT.system && play.scores.some((score) => score[0] === measure && score[2] !== "not_applicable")))
    && words_.every((word) => textOf(rows[at]).includes(word)));
  const order = control("order").value;
  if (order === "file") return [found, measure];
  const by = measure ?? 0;
  const sign = REPORT.measures.length && REPORT.measures[by].better === "lower" ? -1 : 1;
  const key = (row) => {
    const [own, other] = scoresOf(row, by);
    if (own === null || (order !== "worst" && other === null)) return Infinity;
    return sign * (order === "worst" ? own : order === "lost" ? own - other : other - own);
  };
  return [found.map((row) => [key(row), row]).sort((a, b) => (a[0] === b[0] ? a[1].number - b[1].number : a[0] - b[0])).map(([, row]) => row), by];
}

let waiting = []; // rows that pass the filters and are not yet in the page
let scored = null; // number of the measure whose scores the rows show
let turn = 0;

/** Show what passes the filters; what is beyond the first rows comes when there is time. */
function update() {
  const [found, measure] = chosen();
  const all = rows.length.toLocaleString("en");
  const about = measure === null ? "" : `; scores: ${plain(REPORT.measures[measure].title)}`;
  control("found").replaceChildren(`${found.length.toLocaleString("en")} of ${all} cases${about}`);
  control("list").replaceChildren();
  [waiting, scored, turn] = [found, measure, turn + 1];
  showSome(turn, BATCH);
}

function showSome(own, number) {
  if (own !== turn) return;
  for (const row of waiting.splice(0, number)) {
    control("list").append(rowNode(row));
    showScore(row, scored);
  }
  if (waiting.length) setTimeout(() => showSome(own, BATCH));
}

/** Open the case that the address names, whatever the filters hide. */
function follow() {
  const match = /^#case-(\d+)$/u.exec(location.hash);
  if (!match || !rows[match[1]]) return;
  const row = rows[match[1]];
  if (!chosen()[0].includes(row)) {
    for (const id of ["search", "type", "outcome", "measure", "order"]) control(id).value = id === "order" ? "file" : "";
    update();
  }
  showSome(turn, Infinity);
  row.node.open = true;
  row.node.fill();
  row.node.querySelector("summary").focus({ preventScroll: true });
  row.node.scrollIntoView();
  // Rows above it get their true height only when they are drawn.
  requestAnimationFrame(() => row.node.scrollIntoView());
}

/** The report's data, as the page holds them. */
async function unpacked() {
  const bytes = Uint8Array.from(atob(control("data").textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

async function start() {
  if (typeof DecompressionStream === "undefined") {
    control("found").textContent = "This browser is too old to show charts and cases (it lacks DecompressionStream, 2023).";
    return;
  }
  REPORT = await unpacked();
  rows = REPORT.cases.map((item, number) => ({ item, number, node: null, text: null, scores: null }));
  telling = new Set(REPORT.outcomes.map(([outcome]) => outcome).filter((outcome) =>
    outcome !== "fine" && REPORT.cases.some((item) => !item.outcomes.includes(outcome))));
  fillControls();
  update();
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(update, 120);
  };
  control("filters").addEventListener("submit", (event) => event.preventDefault());
  control("filters").addEventListener("reset", () => setTimeout(update));
  control("search").addEventListener("input", later);
  for (const id of ["type", "outcome", "measure", "order"]) control(id).addEventListener("change", update);
  addEventListener("hashchange", follow);
  draw();
  follow();
  let size = 0;
  addEventListener("resize", () => {
    clearTimeout(size);
    size = setTimeout(draw, 150);
  });
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const node of document.querySelectorAll("details:not([open])")) {
      if (node.closest(".case") || node.closest("#snapshot")) continue;
      node.open = true;
      closed.push(node);
    }
  });
  addEventListener("afterprint", () => {
    while (closed.length) closed.pop().open = false;
  });
}

// The page is painted first.
requestAnimationFrame(() => setTimeout(start));
