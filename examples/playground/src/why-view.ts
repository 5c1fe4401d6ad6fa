import type { ChangeEffect, DomainChange } from "@virtkit/converter";
import type { ExplainedNode } from "@virtkit/converter/explain";
import { element } from "./dom.ts";

/** Says what a part of the domain is and where it comes from. */
export function showWhy(root: HTMLElement, { path, value, sources, step }: ExplainedNode): void {
  const title = element("p", {}, element("code", {}, path));
  if (value !== undefined) title.append(" is ", element("code", {}, JSON.stringify(value)));
  const reasons = sources.map(({ kind, because }) => element("li", { "data-kind": kind }, because));
  const rule = element("p", { class: "quiet" }, `${step.kind} ${step.name}: ${step.summary}`);
  root.replaceChildren(title, element("ul", {}, ...reasons), rule);
}

/** The text before anything is selected. */
export function showHint(root: HTMLElement): void {
  const hint =
    "Point at a part of the XML, or reach it with Tab and the arrow keys, to see why it is there.";
  root.replaceChildren(element("p", { class: "quiet" }, hint));
}

const effects: Readonly<Record<ChangeEffect, string>> = {
  live: "live",
  "needs-migration": "with a migration",
  "needs-restart": "with a restart",
};

/** What it takes to turn a running guest into the other one. */
export function showChanges(root: HTMLElement, changes: readonly DomainChange[]): void {
  const title =
    changes.length === 0 ? "Nothing needs to change." : "To turn the first into the second:";
  const items = changes.map(({ summary, effect, reason }) => {
    const why = reason === undefined ? "" : `: ${reason}`;
    return element("li", { "data-effect": effect }, `${summary} (${effects[effect]}${why})`);
  });
  root.replaceChildren(element("p", {}, title), element("ul", {}, ...items));
}
