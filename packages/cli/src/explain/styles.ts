import type { Io } from "../io.ts";

/** How parts of the output are highlighted; all plain if the output is not a terminal. */
export interface Styles {
  /** A note beside something. */
  aside(text: string): string;
  strong(text: string): string;
}

const plain: Styles = { aside: (text) => text, strong: (text) => text };

const coloured: Styles = {
  aside: (text) => `\u001b[36m${text}\u001b[0m`,
  strong: (text) => `\u001b[1m${text}\u001b[0m`,
};

/** Colour on a terminal, unless NO_COLOR is set. */
export function stylesFor({ isTerminal, env }: Io): Styles {
  return isTerminal && !env["NO_COLOR"] ? coloured : plain;
}
