// One case whole: what was asked, what each system did, and what was said of it.

const MODES = { recorded: "Recorded conversation", live: "Conversation played live" };
const GOOD = new Set(["supported", "present", "relevant", "paragraph", "completed", true]);
const BAD = new Set(["contradicted", "unsupported", "not_found", "absent", "irrelevant", "failed", false]);

const words = (label) => String(label).replaceAll("_", " ");
const heading = (text, level = "h5") => make(level, null, text);

/** The gold chunks as objects. */
function goldChunks(gold) {
  return (gold.gold_chunks || []).map((chunk) => (typeof chunk === "string" ? { id: chunk } : chunk));
}

/** What a passage is to the gold question: a chunk of it, an equivalent, or judged irrelevant. */
function goldLabel(chunks, id) {
  for (const chunk of chunks) {
    const grade = chunk.grade ?? 1;
    if (chunk.id === id) return grade === 0 ? "judged not relevant" : grade === 1 ? "gold" : `gold, grade ${grade}`;
    if ((chunk.equivalents || []).includes(id)) return `gold, as good as ${chunk.id}`;
  }
  return null;
}

function caseBody(item) {
  const parts = [];
  const recorded = item.plays.map((play) => play.conversation).find(Boolean);
  if (recorded && recorded.length > 1) parts.push(heading("Conversation", "h3"), conversation(recorded));
  parts.push(goldPart(item.gold));
  const rounds = new Map();
  for (const play of item.plays) {
    const key = `${play.mode} ${play.repeat}`;
    rounds.set(key, [...(rounds.get(key) || []), play]);
  }
  const order = [...rounds.values()].sort((a, b) => (a[0].mode === "live") - (b[0].mode === "live"));
  for (const plays of order) {
    const { mode, repeat } = plays[0];
    const several = item.plays.some((play) => play.repeat > 0);
    parts.push(heading(`${MODES[mode] || mode}${several ? `, repeat ${repeat + 1}` : ""}`, "h3"));
    const pair = plays.filter((play) => isSide(play));
    const rest = plays.filter((play) => !isSide(play));
    parts.push(make("div", { class: "beside" }, pair.map((play) => playPart(play, item))));
    if (rest.length) {
      parts.push(disclosure(`Steps between: ${rest.map((play) => REPORT.systems[play.system]).join(", ")}`,
        () => make("div", { class: "beside" }, rest.map((play) => playPart(play, item)))));
    }
  }
  return make("div", { class: "inside" }, parts);
}

function isSide(play) {
  return [REPORT.system, REPORT.baseline].includes(REPORT.systems[play.system]);
}

function conversation(messages) {
  return make("div", null, messages.map(([role, content]) => message(role, content)));
}

function message(role, text) {
  return make("div", { class: `message ${role === "assistant" ? "assistant" : "user"}` },
    make("span", { class: "who" }, inline(role)), block(text, { name: "message" }));
}

function goldPart(gold) {
  const { question, history, answer, key_points, gold_chunks, filters, behavior, ...rest } = gold;
  const pairs = [];
  if (question.length > 300) pairs.push(["Question", block(question, { name: "question" })]);
  if (answer) pairs.push(["Gold answer", block(answer, { name: "gold answer" })]);
  if (key_points) pairs.push(["Key points", make("ul", null, key_points.map((point) => make("li", null, inline(point, 1000))))]);
  if (behavior) pairs.push(["Acceptable", behavior.map((one) => [inline(words(one)), " "])]);
  for (const [key, value] of Object.entries(rest)) pairs.push([words(key), tree(value)]);
  if (!pairs.length) return null;
  return [heading("Gold question", "h3"), make("dl", { class: "pairs" }, pairs.map(([term, value]) => [make("dt", null, inline(term)), make("dd", null, value)]))];
}

function playPart(play, item) {
  const name = REPORT.systems[play.system];
  const own = name === REPORT.system;
  const role = own ? "system under test" : name === REPORT.baseline ? "baseline" : "step";
  const evidence = evidenceOf(play);
  const passages = passageList(play, item, evidence);
  return make("section", { class: own ? "play own" : "play", "aria-label": `${plain(name)}, ${role}` },
    heading([inline(name), make("span", { class: "quiet" }, ` ${role}`)], "h4"),
    earlier(play),
    fault(play),
    play.answer === undefined ? null : [heading("Answer"), make("div", { class: "answer" }, block(play.answer, { name: "answer" }))],
    play.behavior ? make("p", { class: "small" }, "Behaviour, as the system says: ", inline(words(play.behavior))) : null,
    details(play, passages.open),
    filterTable(item.gold.filters, play.filters),
    passages.node,
    scoreTable(play),
    spending(play),
  );
}

function earlier(play) {
  if (!play.earlier) return null;
  return disclosure(`${play.earlier.length} earlier turn${play.earlier.length === 1 ? "" : "s"}, ${play.mode === "live" ? "played live" : "asked too"}`, () => play.earlier.map((turn) => [
    message("user", turn.question),
    fault(turn),
    turn.answer === undefined ? null : message("assistant", turn.answer),
    filterTable(undefined, turn.filters),
  ]));
}

function fault(turn) {
  if (!turn.error) return null;
  return make("p", null, make("span", { class: "badge bad" }, "System error"), " ", inline(turn.error.kind), ": ", block(turn.error.message, { name: "error" }));
}

function filterTable(expected, found) {
  if (expected === undefined && found === undefined) return null;
  const fields = [...new Set([...Object.keys(expected || {}), ...Object.keys(found || {})])];
  const title = heading("Filters");
  if (!fields.length) return [title, make("p", { class: "small" }, expected ? "None expected, none found." : "None found.")];
  const value = (of, field) => (of && field in of ? inline(JSON.stringify(of[field])) : make("span", { class: "nothing" }, of === undefined ? "not told" : "none"));
  const rows = fields.map((field) => {
    const differs = expected !== undefined && found !== undefined && JSON.stringify(expected[field]) !== JSON.stringify(found[field]);
    return make("tr", null,
      make("th", { scope: "row" }, inline(field)),
      expected === undefined ? null : make("td", null, value(expected, field)),
      make("td", null, value(found, field), differs ? make("span", { class: "differs" }, " differs") : null));
  });
  return [title, tableOf("Filters expected and found", ["Field", ...(expected === undefined ? [] : ["Expected"]), "Found"], rows)];
}

function tableOf(caption, header, rows) {
  return make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": caption },
    make("table", { class: "fine" }, make("caption", { class: "unseen" }, caption),
      make("thead", null, make("tr", null, header.map((cell) => make("th", { scope: "col" }, cell)))),
      make("tbody", null, rows)));
}

function scoreTable(play) {
  if (!play.scores.length) return null;
  const rows = play.scores.map(([number, value, reason, why]) => {
    const measure = REPORT.measures[number];
    const shown = value === null ? make("span", { class: "nothing" }, inline(words(reason || "unscored"))) : make("data", { value }, digits(value, measure.digits));
    const beside = value !== null && reason ? make("span", { class: "nothing" }, ` ${words(reason)}`) : null;
    return make("tr", null, make("th", { scope: "row" }, inline(measure.title)), make("td", null, shown, beside), make("td", null, inline(why, 600)));
  });
  return [heading("Scores"), tableOf("Scores", ["Measure", "Value", "Why"], rows)];
}

/** Passage number to the quotations that verdicts take from it. */
function evidenceOf(play) {
  const found = new Map();
  for (const [, detail] of play.details) {
    for (const claim of Array.isArray(detail.claims) ? detail.claims : []) {
      if (claim.passage && claim.quotation) found.set(claim.passage, [...(found.get(claim.passage) || []), claim.quotation]);
    }
  }
  return found;
}

function passageList(play, item, evidence) {
  const chunks = goldChunks(item.gold);
  const entries = [];
  const opened = [];
  for (let at = 0; at < play.passages?.length; at += 2) {
    const rank = at / 2 + 1;
    const [id, text, metadata] = REPORT.passages[play.passages[at]];
    const score = play.passages[at + 1];
    const label = goldLabel(chunks, id);
    const quotations = evidence.get(rank) || [];
    const marks = ranges(text, quotations);
    const summary = [`[${rank}] `, make("span", { class: "id" }, inline(id)),
      label ? make("span", { class: "gold-label" }, ` ★ ${plain(label)}`) : null,
      score === null ? null : make("span", { class: "quiet" }, ` ${digits(score, 3)}`),
      quotations.length ? make("span", { class: "quiet" }, " evidence") : null];
    const node = disclosure(summary, () => [
      block(text, { marks, name: "passage" }),
      Object.keys(metadata).length ? make("div", { class: "small" }, tree(metadata)) : null,
    ], { open: marks.length > 0 });
    opened[rank] = node;
    entries.push(make("li", { class: label && label !== "judged not relevant" ? "gold" : null }, node));
  }
  const ids = new Set((play.passages || []).filter((_, at) => at % 2 === 0).map((number) => REPORT.passages[number][0]));
  const missing = chunks.filter((chunk) => (chunk.grade ?? 1) > 0 && ![chunk.id, ...(chunk.equivalents || [])].some((id) => ids.has(id)));
  const lacking = missing.length ? make("p", { class: "small" }, make("span", { class: "gold-label" }, "★ gold, not retrieved: "), missing.map((chunk) => [make("span", { class: "id" }, inline(chunk.id)), " "])) : null;
  const node = entries.length || lacking ? [heading(`Passages (${entries.length})`), lacking, make("ol", { class: "passages" }, entries)] : null;
  return { node, open: (rank) => opened[rank] };
}

/** What measures rest on: claims and paragraphs at once, the rest in a disclosure. */
function details(play, passage) {
  const first = [];
  const more = [];
  for (const [numbers, detail] of play.details) {
    const title = numbers.map((number) => plain(REPORT.measures[number].title)).join(", ");
    const shown = evidence(detail, passage);
    if (!shown.length) continue;
    (detail.claims || detail.paragraphs ? first : more).push([heading(title), shown]);
  }
  if (more.length) first.push(disclosure("More evidence", () => more));
  return first;
}

/** Lists of verdicts that are known by their form, and anything else as it is. */
function evidence(detail, passage) {
  const { claims, paragraphs, points, citations, passages, padding, ...rest } = detail;
  const item = (label, text, one) => verdictItem(label, text, one, passage);
  const lists = [
    [claims, (one) => item(one.label, one.claim, one)],
    [points, (one) => item(one.label, one.point, one)],
    [paragraphs, (one) => item(one.label ?? one.verdict, one.text, one)],
    [citations, (one) => item(one.label, `paragraph ${one.paragraph + 1}, source [${one.source}]`, one)],
    [passages, (one, at) => item(one.label ?? one.form, "", { passage: one.rank ?? at + 1, ...one })],
    [padding, (one) => item("serves no key point", one.text, one)],
  ];
  const known = lists.filter(([list]) => Array.isArray(list) && list.length && list.every((one) => one && typeof one === "object"));
  const other = Object.entries(rest).filter(([, value]) => !(Array.isArray(value) && !value.length));
  return [
    ...known.map(([list, show]) => make("ul", { class: "verdicts" }, list.map(show))),
    ...(other.length ? [make("div", { class: "small" }, tree(Object.fromEntries(other)))] : []),
  ];
}

function verdictItem(label, text, one, passage) {
  const kind = GOOD.has(label) ? "is-good" : BAD.has(label) ? "is-bad" : null;
  return make("li", { class: kind },
    label === undefined || label === null ? null : [make("span", { class: "label" }, inline(words(label))), " "],
    inline(text ?? "", 2000), " ", passageButton(one.passage, passage),
    one.rationale ? make("div", { class: "quiet" }, inline(one.rationale, 1000)) : null,
    one.quotation ? make("div", { class: "small" }, make("q", { dir: "auto" }, visible(one.quotation.slice(0, 1000))),
      one.quotation_found === false ? make("span", { class: "differs" }, " is not in the text") : null) : null,
    typeof one.coverage === "number" ? make("div", { class: "small" }, `coverage ${digits(one.coverage, 2)}`) : null,
    typeof one.needed === "boolean" ? make("div", { class: "small" }, one.needed ? "needed" : "not needed") : null,
    Array.isArray(one.sources) ? make("ul", { class: "small" }, one.sources.map(sourceItem)) : null);
}

/** A button that opens the passage of that rank. */
function passageButton(rank, passage) {
  const node = rank ? passage(rank) : null;
  if (!node) return null;
  const button = make("button", { type: "button" }, `Passage [${rank}]`);
  button.addEventListener("click", () => {
    node.open = true;
    node.fill();
    node.scrollIntoView({ block: "nearest" });
    node.querySelector("summary").focus();
  });
  return button;
}

function sourceItem(source) {
  const covers = typeof source.coverage === "number" ? `covers ${digits(source.coverage, 2)}` : inline(source.reason || "");
  return make("li", null, `[${source.source}] `, source.passage_id ? [make("span", { class: "id" }, inline(source.passage_id)), " "] : null, covers);
}

function spending(play) {
  const cost = play.cost === undefined ? ["cost not known", play.costReason ? [" (", inline(words(play.costReason)), ")"] : null] : `${digits(play.cost, 6)} USD`;
  const calls = (play.usage || []).map((one) => make("li", null, tree(one)));
  return make("div", { class: "small quiet" }, make("p", null, cost), calls.length ? disclosure(`${calls.length} LLM call${calls.length === 1 ? "" : "s"}`, () => make("ol", null, calls)) : null);
}
