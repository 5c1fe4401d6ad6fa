/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { coloured } from "./coloured.ts";
import { element, find } from "./dom.ts";
import type { Problem } from "./yaml-object.ts";
import { yamlTokens } from "./yaml-tokens.ts";

/**
 * A text area with line numbers, and with messages at their lines. Its own text is invisible: the same text
 * lies behind it, in colours.
 */
export class Editor {
  readonly area: HTMLTextAreaElement;
  readonly #gutter: HTMLElement;
  readonly #notes: HTMLElement;
  readonly #list: HTMLElement;
  #problems: readonly Problem[] = [];
  #sources: ReadonlySet<number> = new Set();

  constructor(root: HTMLElement) {
    this.area = find(root, "textarea") as HTMLTextAreaElement;
    this.#gutter = find(root, ".gutter");
    this.#notes = find(root, ".notes");
    this.#list = find(root, ".problems");
    this.area.addEventListener("scroll", () => this.#follow());
  }

  get text(): string {
    return this.area.value;
  }

  set text(text: string) {
    this.area.value = text;
    this.draw();
  }

  /** The line of the cursor, counted from 1. */
  get line(): number {
    return this.text.slice(0, this.area.selectionStart).split("\n").length;
  }

  showProblems(problems: readonly Problem[]): void {
    this.#problems = problems;
    this.#list.replaceChildren(
      ...problems.map(({ line, message }) => {
        const button = element("button", { type: "button" }, `Line ${line}: ${message}`);
        button.addEventListener("click", () => this.goTo(line));
        return element("li", {}, button);
      }),
    );
    this.area.setAttribute("aria-invalid", String(problems.length > 0));
    this.draw();
  }

  /** Marks the lines that something follows from. */
  showSources(lines: readonly number[]): void {
    this.#sources = new Set(lines);
    this.draw();
  }

  goTo(line: number): void {
    const offset =
      this.text
        .split("\n")
        .slice(0, line - 1)
        .join("\n").length + (line > 1 ? 1 : 0);
    this.area.focus();
    this.area.setSelectionRange(offset, offset);
  }

  draw(): void {
    const lines = yamlTokens(this.text);
    const messages = new Map<number, string>();
    for (const { line, message } of this.#problems) {
      // The line says which field it is about.
      const short = message.replace(/^(spec|metadata|status)\S*:? /, "");
      messages.set(line, messages.has(line) ? `${messages.get(line)}; ${short}` : short);
    }
    const rows = lines.map((tokens, at) => {
      const message = messages.get(at + 1);
      const source = this.#sources.has(at + 1) ? "source" : "";
      return { tokens, message, mark: message === undefined ? source : "faulty" };
    });
    this.#gutter.replaceChildren(
      ...rows.map(({ mark }, at) => element("div", { class: mark }, String(at + 1))),
    );
    this.#notes.replaceChildren(
      ...rows.map(({ tokens, message, mark }) => {
        const note = message === undefined ? [] : [element("span", { class: "note" }, message)];
        return element("div", { class: mark }, ...coloured(tokens), ...note);
      }),
    );
    this.#follow();
  }

  #follow(): void {
    this.#gutter.scrollTop = this.area.scrollTop;
    this.#notes.scrollTop = this.area.scrollTop;
    this.#notes.scrollLeft = this.area.scrollLeft;
  }
}
