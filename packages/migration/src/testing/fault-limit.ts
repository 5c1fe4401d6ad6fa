import type { TwoNodes } from "./two-nodes.ts";

/** Says what a case is doing now, for whoever has to know why it did not end. */
type Step = (what: string) => void;

/** Seconds for one case, which takes three on an idle host. */
const limit = 60;

/**
 * Runs one case of faults. It ends, one way or the other, within a minute: who waits for ever is told what for, and
 * how both nodes stand.
 */
export async function withinLimit<T>(
  lab: TwoNodes,
  name: string,
  run: (step: Step) => Promise<T>,
): Promise<T> {
  let doing = "begins";
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), limit * 1_000);
  });
  const running = run((what) => {
    doing = what;
  });
  try {
    const first = await Promise.race([running.then((value) => ({ value })), late]);
    if (first !== "late") return first.value;
    // It ends when its nodes do; nobody listens to it any more.
    running.catch(() => {});
    throw new Error(`it did not end in ${limit} s`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const found = await lab.describe();
    throw new Error(`${name}: ${why}; it was at "${doing}"; ${found}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}
