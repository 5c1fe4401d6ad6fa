/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { ExplainedNode, XmlLine, XmlToken } from "@virtkit/converter/explain";
import { coloured } from "./coloured.ts";
import { element } from "./dom.ts";
import type { DiffLine } from "./line-diff.ts";
import { xmlTokens } from "./xml-tokens.ts";

const signed = { both: "  ", added: "+ ", removed: "- " } as const;
const unsigned = { both: "", added: "", removed: "" } as const;

/**
 * Lines of XML whose parts can be pointed at, or reached with the arrow keys. Only one part is in the Tab
 * order: the last selected one.
 */
export class XmlView {
  readonly #root: HTMLElement;
  readonly #choose: (node: ExplainedNode) => void;
  #parts: ExplainedNode[] = [];
  #chosen: string | undefined;

  constructor(root: HTMLElement, choose: (node: ExplainedNode) => void) {
    this.#root = root;
    this.#choose = choose;
    root.addEventListener("pointerover", ({ target }) => this.#point(target));
    root.addEventListener("focusin", ({ target }) => this.#point(target));
    root.addEventListener("keydown", (event) => this.#move(event));
  }

  show(lines: readonly DiffLine<XmlLine>[]): void {
    this.#parts = [];
    this.#root.classList.remove("stale");
    const numbers = new Map<ExplainedNode, number>();
    const signs = lines.every(({ side }) => side === "both") ? unsigned : signed;
    this.#root.replaceChildren(
      ...lines.map(({ side, line }) => this.#line(`line ${side}`, signs[side], line, numbers)),
    );
    const first = this.#buttons().find(({ dataset }) => dataset["part"] === this.#chosen);
    (first ?? this.#buttons()[0])?.setAttribute("tabindex", "0");
  }

  /** The lines no longer come from the present text. */
  age(): void {
    this.#root.classList.add("stale");
  }

  /** Marks the parts that follow from the cursor's line. */
  mark(isMarked: (node: ExplainedNode) => boolean): void {
    for (const part of this.#root.querySelectorAll<HTMLElement>("[data-part]")) {
      const node = this.#parts[Number(part.dataset["part"])];
      part.classList.toggle("from-line", node !== undefined && isMarked(node));
    }
  }

  #line(
    name: string,
    sign: string,
    line: XmlLine,
    numbers: Map<ExplainedNode, number>,
  ): HTMLElement {
    const seen = new Set<ExplainedNode>();
    const parts = line.map((token) => {
      const isFirst = token.node !== undefined && !seen.has(token.node);
      if (token.node) seen.add(token.node);
      return this.#part(token, isFirst, numbers);
    });
    return element("div", { class: name }, sign, ...parts);
  }

  #part(
    { text, node }: XmlToken,
    isFirst: boolean,
    numbers: Map<ExplainedNode, number>,
  ): Node | string {
    if (!node) return element("span", {}, ...coloured(xmlTokens(text)));
    const part = numbers.get(node) ?? this.#parts.push(node) - 1;
    numbers.set(node, part);
    const attributes = { "data-part": String(part) };
    const content = coloured(xmlTokens(text));
    if (!isFirst) return element("span", attributes, ...content);
    return element(
      "button",
      { ...attributes, type: "button", tabindex: "-1", "aria-describedby": "why" },
      ...content,
    );
  }

  #point(target: EventTarget | null): void {
    const part = (target as HTMLElement | null)?.closest<HTMLElement>("[data-part]")?.dataset[
      "part"
    ];
    const node = this.#parts[Number(part)];
    if (part === undefined || !node) return;
    this.#chosen = part;
    for (const other of this.#root.querySelectorAll<HTMLElement>("[data-part]")) {
      const isChosen = other.dataset["part"] === part;
      other.classList.toggle("chosen", isChosen);
      if (other.tagName === "BUTTON") other.tabIndex = isChosen ? 0 : -1;
    }
    this.#choose(node);
  }

  #buttons(): HTMLElement[] {
    return [...this.#root.querySelectorAll<HTMLElement>("button")];
  }

  #move(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };
    const rows: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const current = document.activeElement as HTMLElement;
    const step = steps[event.key];
    const row = rows[event.key];
    if (step === undefined && row === undefined) return;
    event.preventDefault();
    if (step !== undefined) {
      const buttons = this.#buttons();
      buttons[buttons.indexOf(current) + step]?.focus();
    } else {
      nextRow(current.closest(".line"), row ?? 1)?.focus();
    }
  }
}

/** The first part of the next line that has any. */
function nextRow(line: Element | null, step: number): HTMLElement | undefined {
  let next = line;
  do {
    next = (step > 0 ? next?.nextElementSibling : next?.previousElementSibling) ?? null;
  } while (next && !next.querySelector("button"));
  return next?.querySelector<HTMLElement>("button") ?? undefined;
}
