/// <reference lib="dom" />
import { diffDomains } from "@virtkit/converter";
import { type ExplainedNode, type XmlLine, xmlLines } from "@virtkit/converter/explain";
import { type Analysis, analyse } from "./analysis.ts";
import { find } from "./dom.ts";
import { Editor } from "./editor.ts";
import { type DiffLine, lineDiff } from "./line-diff.ts";
import { sample } from "./sample.ts";
import { showChanges, showHint, showWhy } from "./why-view.ts";
import { XmlView } from "./xml-view.ts";

/** Milliseconds after the last key press until the text is analysed. */
const patience = 150;

const page = find(document, "main");
const why = find(document, "#why");
const title = find(document, "#result-title");
const editors = [new Editor(find(page, "#first")), new Editor(find(page, "#second"))] as const;
const [first, second] = editors;
const view = new XmlView(find(page, "#xml"), choose);

let analyses: readonly Analysis[] = [];

function isComparing(): boolean {
  return page.dataset["mode"] === "compare";
}

/** Reads the editors and shows the result. */
function refresh(): void {
  analyses = (isComparing() ? editors : [first]).map((editor) => {
    const analysis = analyse(editor.text);
    editor.showProblems(analysis.problems);
    return analysis;
  });
  const lines = analyses.flatMap(({ explanation }) => (explanation ? [xmlLines(explanation)] : []));
  if (lines.length < analyses.length) {
    view.age();
    return;
  }
  view.show(shownLines(lines));
  const [running, wanted] = analyses.map(({ explanation }) => explanation?.domain);
  if (running && wanted) showChanges(why, diffDomains(running, wanted));
}

function shownLines([before = [], after]: readonly XmlLine[][]): DiffLine<XmlLine>[] {
  if (!after) {
    title.textContent = "Domain";
    return before.map((line) => ({ side: "both", line }));
  }
  const lines = lineDiff(before, after, (line) => line.map(({ text }) => text).join(""));
  const changed = lines.filter(({ side }) => side !== "both").length;
  title.textContent =
    changed === 0 ? "The domains are the same" : `Domains: ${changed} lines differ`;
  return lines;
}

function choose(node: ExplainedNode): void {
  showWhy(why, node);
  for (const [at, editor] of editors.entries()) {
    const { explanation, linesOf } = analyses[at] ?? {};
    editor.showSources(linesOf && explanation?.nodes.includes(node) ? linesOf(node) : []);
  }
}

/** The reverse: what follows from the line of the cursor. */
function markFromCursor(): void {
  const at = editors.findIndex(({ area }) => area === document.activeElement);
  const { explanation, linesOf } = analyses[at] ?? {};
  if (!explanation || !linesOf) return;
  const line = editors[at]?.line ?? 0;
  view.mark((node) => linesOf(node).includes(line));
}

let waiting = 0;
for (const { area } of editors) {
  area.addEventListener("input", () => {
    for (const editor of editors) editor.draw();
    clearTimeout(waiting);
    waiting = window.setTimeout(refresh, patience);
  });
}
document.addEventListener("selectionchange", markFromCursor);
for (const radio of document.querySelectorAll<HTMLInputElement>("input[name=mode]")) {
  radio.addEventListener("change", () => {
    page.dataset["mode"] = radio.value;
    showHint(why);
    for (const editor of editors) editor.showSources([]);
    refresh();
  });
}

first.text = sample;
second.text = sample.replace("cores: 1", "cores: 2").replace("bus: virtio", "bus: sata");
showHint(why);
refresh();
