"use strict";
// Elements out of values, and untrusted text in them. Text only ever becomes text nodes.

const CUT = 4000; // characters of a text that are shown at once
const CHUNK = 20000; // characters of a block of a text shown whole
// Controls, bidirectional marks and overrides, invisible and tag characters, half surrogates.
const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]|[\u{e0000}-\u{e007f}]/gu;

/** An element with attributes and children; strings become text nodes, null is left out. */
function make(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined));
  return node;
}

/** A text as nodes, with characters that cannot be seen, or that reorder others, made visible. */
function visible(text) {
  const found = [];
  let done = 0;
  for (const match of text.matchAll(CONTROL)) {
    if (match[0] === "\r" && text[match.index + 1] === "\n") continue;
    const code = match[0].codePointAt(0);
    const shown = code < 256 ? `\\x${hex(code, 2)}` : code < 65536 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
    found.push(text.slice(done, match.index), make("span", { class: "control-character" }, shown));
    done = match.index + match[0].length;
  }
  found.push(text.slice(done));
  return found;
}

function hex(code, digits) {
  return code.toString(16).padStart(digits, "0");
}

/** A short text within a line. */
function inline(text, limit = 300) {
  const string = String(text);
  const rest = string.length > limit ? "…" : null;
  return make("bdi", null, visible(string.slice(0, end(string, limit))), rest);
}

/** Where to cut a text, so that no pair of surrogates is parted. */
function end(text, limit) {
  if (limit >= text.length) return text.length;
  const code = text.charCodeAt(limit - 1);
  return code >= 0xd800 && code <= 0xdbff ? limit - 1 : limit;
}

/** A text of any length as a block; `marks` are ranges to highlight, in order. */
function block(text, { marks = [], name = "text" } = {}) {
  const last = marks.length ? marks[marks.length - 1][1] : 0;
  const limit = Math.max(CUT, Math.min(last, CHUNK));
  const node = make("div", { class: "text", dir: "auto" }, marked(text, 0, end(text, limit), marks));
  if (text.length <= limit) return node;
  const button = make("button", { type: "button" }, `Show all ${text.length.toLocaleString("en")} characters`);
  const holder = make("div", null, node, make("p", null, button));
  button.addEventListener("click", () => {
    const box = make("div", { class: "box", tabindex: 0, role: "group", "aria-label": `Whole ${name}` });
    for (let at = 0; at < text.length; ) {
      const to = end(text, at + CHUNK);
      box.append(make("div", { class: "text chunk", dir: "auto" }, marked(text, at, to, marks)));
      at = to;
    }
    holder.replaceChildren(box);
    box.focus();
  });
  return holder;
}

function marked(text, from, to, marks) {
  const nodes = [];
  let done = from;
  for (const [start, stop] of marks) {
    if (stop <= done || start >= to) continue;
    nodes.push(visible(text.slice(done, Math.max(start, done))));
    nodes.push(make("mark", null, visible(text.slice(Math.max(start, done), Math.min(stop, to)))));
    done = Math.min(stop, to);
  }
  nodes.push(visible(text.slice(done, to)));
  return nodes;
}

/** Ranges of `text` that the quotations are, in order and apart; white space and quotation marks may differ. */
function ranges(text, quotations) {
  const found = [];
  for (const quotation of quotations) {
    const wanted = quotation.trim();
    if (!wanted) continue;
    let at = text.indexOf(wanted);
    let length = wanted.length;
    if (at < 0 && wanted.length < 2000) {
      const words = wanted.split(/\s+/u).map((word) =>
        word.replace(/[.*+?^${}()|[\]\\/-]/gu, "\\$&").replace(/["'“”„‘’‚«»]/gu, "[\"'“”„‘’‚«»]"));
      const match = new RegExp(words.join("\\s+"), "iu").exec(text);
      if (match) [at, length] = [match.index, match[0].length];
    }
    if (at >= 0) found.push([at, at + length]);
  }
  found.sort((a, b) => a[0] - b[0]);
  const apart = [];
  for (const range of found) {
    const before = apart[apart.length - 1];
    if (before && range[0] <= before[1]) before[1] = Math.max(before[1], range[1]);
    else apart.push(range);
  }
  return apart;
}

/** JSON data as nested lists of terms. */
function tree(value, depth = 0) {
  if (value === null || typeof value !== "object") return inline(value === null ? "none" : value, 2000);
  const entries = Object.entries(value);
  if (!entries.length) return make("span", { class: "nothing" }, "none");
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return inline(value.join(", "), 2000);
  if (depth > 8) return inline(JSON.stringify(value), 2000);
  return make("dl", { class: "pairs" }, entries.map(([key, item]) => [
    make("dt", null, inline(Array.isArray(value) ? Number(key) + 1 : key)),
    make("dd", null, tree(item, depth + 1)),
  ]));
}

/** A disclosure whose inside is made when it is first opened. */
function disclosure(summary, fill, attributes) {
  const node = make("details", attributes, make("summary", null, summary));
  const open = () => {
    if (node.open && !node.dataset.filled) {
      node.dataset.filled = "yes";
      node.append(...[fill()].flat(3).filter((child) => child));
    }
  };
  node.addEventListener("toggle", open);
  node.fill = open;
  open();
  return node;
}

/** A number as it stands in the report, with the digits of its measure. */
function digits(value, places, signed) {
  if (value === null || value === undefined) return "–";
  const text = Math.abs(value) >= 1e9 ? value.toPrecision(3) : value.toFixed(places);
  if (Number(text) === 0) return text.replace("-", "");
  return signed && value > 0 ? `+${text}` : text;
}
