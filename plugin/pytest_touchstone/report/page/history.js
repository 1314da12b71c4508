// A small chart for each measure: its score in every run, drawn by Observable Plot.

const LINES = 8; // texts of changes that a point tells

function chartOf(series, width) {
  const rows = series.points.flatMap((point, place) => {
    if (point.estimate === null) return [];
    const [low, high] = point.ci || [point.estimate, point.estimate];
    return [{ ...point, place, low, high }];
  });
  if (!rows.length) return make("p", { class: "quiet" }, plain(series.title), ": nothing scored");
  const text = (row) => {
    const interval = `${digits(row.estimate, series.digits)} [${digits(row.low, series.digits)}, ${digits(row.high, series.digits)}]`;
    const part = row.part ? `, ${plain(row.part)}` : "";
    return `${row.started_at.slice(0, 16)}, ${plain(row.system)}: ${interval}, n = ${row.n}${part}`;
  };
  const told = (row) => [text(row), ...row.changed.slice(0, LINES).map((line) => `changed: ${plain(line)}`)].join("\n");
  const whole = rows.filter((row) => !row.part);
  const places = series.points.map((_, place) => place);
  const step = Math.max(1, Math.ceil(places.length / Math.max(1, Math.floor(width / 90))));
  return figureOf(
    plain(series.title),
    series.higher_is_better ? "" : "lower is better",
    `${plain(series.title)} by run. ${rows.map(text).join("; ")}`,
    {
      width,
      height: 170,
      marginLeft: 48,
      marginRight: 16,
      style: { fontSize: "11px" },
      x: {
        type: "point",
        domain: places,
        label: null,
        ticks: places.filter((place) => place % step === 0),
        tickFormat: (place) => series.points[place].started_at.slice(5, 16).replace("T", " "),
      },
      y: {
        domain: domainOf([series.range[0], series.range[1]], rows.flatMap((row) => [row.low, row.high])),
        grid: true,
        label: series.unit || null,
        ticks: 4,
      },
      marks: [
        Plot.ruleX(rows.filter((row) => row.changed.length), { x: "place", stroke: "var(--bad)", strokeDasharray: "2 3" }),
        Plot.line(whole, { x: "place", y: "estimate", strokeOpacity: 0.5 }),
        Plot.ruleX(rows, { x: "place", y1: "low", y2: "high", strokeWidth: 2, stroke: "var(--accent)" }),
        Plot.dot(whole, { x: "place", y: "estimate", r: 3.5, fill: "var(--accent)", title: told }),
        Plot.dot(rows.filter((row) => row.part), { x: "place", y: "estimate", r: 3.5, fill: "var(--plot-background)", stroke: "var(--accent)", title: told }),
      ],
    },
  );
}

function drawHistory(measures) {
  for (const holder of document.querySelectorAll("[data-series]")) {
    const width = Math.floor(holder.clientWidth) || 320;
    if (holder.dataset.width === String(width)) continue;
    holder.dataset.width = width;
    holder.replaceChildren(chartOf(measures[Number(holder.dataset.series)], width));
  }
}

async function start() {
  const packed = document.getElementById("data").textContent;
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { measures } = await new Response(stream).json();
  drawHistory(measures);
  let size = 0;
  addEventListener("resize", () => {
    clearTimeout(size);
    size = setTimeout(() => drawHistory(measures), 150);
  });
}

start();
