import type { TwoNodes } from "./two-nodes.ts";

/** Reports what a case is doing now, so that people know why it did not end. */
type Step = (what: string) => void;

/** Seconds for one case: a guard against hanging. It takes three on an idle host, and almost a minute on a very busy one. */
const limit = 180;

/**
 * Runs one case of faults. It ends within three minutes; if it hangs, the error says what it waited for, and
 * the state of both nodes.
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
    // It ends when its nodes do; its result is ignored.
    running.catch(() => {});
    throw new Error(`it did not end within ${limit} s`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const found = await lab.describe();
    throw new Error(`${name}: ${why}; its last step was "${doing}"; ${found}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}
