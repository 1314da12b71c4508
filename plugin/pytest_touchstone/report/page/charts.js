// Charts, drawn by Observable Plot out of the figures of the tables; the tables say the same.

let REPORT = null; // the data that the page holds, once they are unpacked

/** Measures that can share an axis: the same range and unit. */
function byScale(measures) {
  const groups = new Map();
  for (const measure of measures) {
    const key = JSON.stringify([measure.range, measure.unit]);
    groups.set(key, [...(groups.get(key) || []), measure]);
  }
  return [...groups.values()];
}

function shortened(title, length = 28) {
  return title.length > length ? `${title.slice(0, length - 1)}…` : title;
}

function figureOf(title, key, label, options) {
  const svg = Plot.plot(options);
  // An image with a label of its own: no label within it is read, nor allowed on a group.
  svg.querySelectorAll("g[aria-label]").forEach((group) => group.removeAttribute("aria-label"));
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return make("figure", null, make("figcaption", null, title, " ", make("span", { class: "key" }, key)), svg);
}

function domainOf(range, values) {
  const [low, high] = range;
  return [low ?? Math.min(...values, 0), high ?? (Math.max(...values) || 1)];
}

const plain = (text) => visible(text).map((part) => (typeof part === "string" ? part : part.textContent)).join("");
const lessIsBetter = (measure) => measure.better === "lower";
const name = (measure) => shortened(plain(measure.short)) + (lessIsBetter(measure) ? " ↓" : "");

/** What the signs behind the names of a chart mean. */
function signs(measures) {
  const said = [[" °", "° offline judge"], [" ~", "~ proxy"]];
  const meant = said.filter(([sign]) => measures.some((measure) => measure.short.endsWith(sign))).map(([, text]) => text);
  if (measures.some(lessIsBetter)) meant.push("↓ less is better");
  return meant.map((text) => `  ${text}`).join("");
}

/** Scores with intervals, and differences with theirs. */
function forest(width) {
  const { system, baseline } = REPORT;
  const charts = [];
  for (const group of byScale(REPORT.measures.filter((m) => (m.results[system] || [null])[0] !== null && m.results[system]))) {
    const rows = group.flatMap((measure) => [baseline, system].filter((one, at, all) => one && all.indexOf(one) === at).flatMap((who) => {
      const [value, ci] = measure.results[who] || [null, null];
      if (value === null) return [];
      return [{ measure: name(measure), who, value, low: ci ? ci[0] : value, high: ci ? ci[1] : value, digits: measure.digits }];
    }));
    const own = (row) => row.who === system;
    const text = (row) => `${row.measure}, ${plain(row.who)}: ${digits(row.value, row.digits)} [${digits(row.low, row.digits)}, ${digits(row.high, row.digits)}]`;
    const common = {
      width,
      marginLeft: 176,
      marginRight: 24,
      height: 48 + 24 * group.length,
      style: { fontSize: "11px" },
    };
    charts.push(figureOf(
      `Score${group[0].unit ? ` (${group[0].unit})` : ""}`,
      `${baseline && baseline !== system ? "● system  ○ baseline" : "● system"}${signs(group)}`,
      `Scores with intervals. ${rows.map(text).join("; ")}`,
      {
        ...common,
        x: { domain: domainOf(group[0].range, rows.map((row) => row.high)), grid: true, label: null, nice: true, ticks: 5 },
        y: { domain: group.map(name), label: null },
        marks: [
          Plot.ruleY(rows.filter((row) => !own(row)), { y: "measure", x1: "low", x2: "high", dy: 5, strokeOpacity: 0.6 }),
          Plot.dot(rows.filter((row) => !own(row)), { y: "measure", x: "value", dy: 5, r: 3.5, title: text, fill: "var(--plot-background)", stroke: "currentColor" }),
          Plot.ruleY(rows.filter(own), { y: "measure", x1: "low", x2: "high", dy: -3, strokeWidth: 2, stroke: "var(--accent)" }),
          Plot.dot(rows.filter(own), { y: "measure", x: "value", dy: -3, r: 4, title: text, fill: "var(--accent)" }),
        ],
      },
    ));
    const deltas = group.filter((measure) => measure.delta).map((measure) => {
      const [value, ci] = measure.delta;
      return { measure: name(measure), value, low: ci ? ci[0] : value, high: ci ? ci[1] : value, standing: measure.standing, digits: measure.digits };
    });
    if (!deltas.length) continue;
    const colour = (row) => ({ better: "var(--good)", worse: "var(--bad)" })[row.standing] || "var(--quiet)";
    const told = (row) => `${row.measure}: ${digits(row.value, row.digits, true)} [${digits(row.low, row.digits, true)}, ${digits(row.high, row.digits, true)}], ${row.standing}`;
    const reach = Math.max(...deltas.flatMap((row) => [Math.abs(row.low), Math.abs(row.high)])) || 1;
    charts.push(figureOf(
      "Difference to the baseline",
      `▲ better  ▼ worse  ○ undecided${signs(group)}`,
      `Differences to the baseline with intervals. ${deltas.map(told).join("; ")}`,
      {
        ...common,
        height: 48 + 24 * deltas.length,
        x: { domain: [-reach, reach], grid: true, label: null, nice: true, ticks: 5 },
        y: { domain: deltas.map((row) => row.measure), label: null },
        marks: [
          Plot.ruleX([0]),
          Plot.ruleY(deltas, { y: "measure", x1: "low", x2: "high", strokeWidth: 2, stroke: colour }),
          Plot.dot(deltas.filter((row) => row.standing === "undecided"), { y: "measure", x: "value", r: 3.5, fill: "var(--plot-background)", stroke: colour, title: told }),
          Plot.text(deltas.filter((row) => row.standing !== "undecided"), { y: "measure", x: "value", text: (row) => (row.standing === "better" ? "▲" : "▼"), fill: colour, fontSize: 12, stroke: "var(--plot-background)", strokeWidth: 2, title: told }),
        ],
      },
    ));
  }
  return charts;
}

/** A small chart for each measure: its score at every step. */
function ladder(width) {
  const charts = [];
  for (const measure of REPORT.measures) {
    const rows = REPORT.steps.flatMap((step) => {
      const [value, ci] = measure.results[step] || [null, null];
      if (value === null) return [];
      return [{ step: shortened(plain(step), 16), value, low: ci ? ci[0] : value, high: ci ? ci[1] : value }];
    });
    if (rows.length < 3) continue; // steps between were not asked for this
    const text = (row) => `${row.step}: ${digits(row.value, measure.digits)} [${digits(row.low, measure.digits)}, ${digits(row.high, measure.digits)}]`;
    charts.push(figureOf(
      plain(measure.title),
      measure.better === "lower" ? "lower is better" : "",
      `${plain(measure.title)} at each step. ${rows.map(text).join("; ")}`,
      {
        width,
        height: 40 + 20 * REPORT.steps.length,
        marginLeft: 100,
        marginRight: 24,
        marginTop: 4,
        style: { fontSize: "11px" },
        x: { domain: domainOf(measure.range, rows.map((row) => row.high)), grid: true, label: null, nice: true, ticks: 4 },
        y: { domain: REPORT.steps.map((step) => shortened(plain(step), 16)), label: null },
        marks: [
          Plot.line(rows, { y: "step", x: "value", strokeOpacity: 0.4 }),
          Plot.ruleY(rows, { y: "step", x1: "low", x2: "high", strokeWidth: 2, stroke: "var(--accent)" }),
          Plot.dot(rows, { y: "step", x: "value", r: 3.5, fill: "var(--accent)", title: text }),
        ],
      },
    ));
  }
  return charts;
}

function draw() {
  for (const [id, charts] of [["forest", forest], ["steps", ladder]]) {
    const holder = document.getElementById(id);
    if (!holder) continue;
    const width = Math.floor(parseFloat(getComputedStyle(holder).gridTemplateColumns)) || 320;
    if (holder.dataset.width === String(width)) continue;
    holder.dataset.width = width;
    holder.replaceChildren(...charts(width));
  }
}
