import { type Clock, sleep } from "@virtkit/api/clock";
import type { ProbePlan } from "./plan-probes.ts";
import { afterCheck, type ProbeOutcome, type ProbeState, untried } from "./probe-state.ts";

/** What a {@link probe} works with. */
export interface ProberOptions {
  /** Runs one check; rejects if the guest fails it. */
  readonly check: (options: { readonly signal: AbortSignal }) => Promise<void>;
  /** Called for every check, with its duration. */
  readonly onCheck?: (ok: boolean, seconds: number) => void;
  /** Called after every check. */
  readonly onState: (state: ProbeState) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The most bytes of a guest's output in a message. */
const mostReason = 300;
/** A check through the agent gets a second more, so that the agent's own timeout comes first. */
const agentPatience = 1;

/** Repeats checks as planned until the signal is aborted. */
export async function probe(plan: ProbePlan, options: ProberOptions): Promise<void> {
  const { clock, signal, onState } = options;
  let state = untried;
  await sleep(clock, plan.initialDelay * 1_000, signal);
  while (!signal.aborted) {
    const began = clock.now();
    const outcome = await outcomeOf(plan, options);
    // An interrupted check says nothing about the guest.
    if (signal.aborted) return;
    options.onCheck?.(outcome.ok, (clock.now() - began) / 1_000);
    state = afterCheck(state, outcome, plan.thresholds);
    onState(state);
    await sleep(clock, Math.max(plan.period * 1_000 - (clock.now() - began), 0), signal);
  }
}

async function outcomeOf(
  { action, timeout }: ProbePlan,
  { check, clock, signal }: ProberOptions,
): Promise<ProbeOutcome> {
  const isAsked = action.kind === "exec" || action.kind === "agent";
  const seconds = isAsked ? timeout + agentPatience : timeout;
  // Not AbortSignal.any: that keeps some memory of each check for as long as the guest lives.
  const limit = new AbortController();
  const onStop = (): void => limit.abort();
  signal.addEventListener("abort", onStop, { once: true });
  let timer: unknown;
  // Raced as well: a check that ignores its signal must not hold up the next one.
  const late = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => {
      limit.abort();
      reject(new Error(`no answer in ${seconds} s`));
    }, seconds * 1_000);
  });
  try {
    await Promise.race([check({ signal: limit.signal }), late]);
    return { ok: true };
  } catch (error) {
    return { ok: false, message: reasonOf(error) };
  } finally {
    clock.clearTimeout(timer);
    signal.removeEventListener("abort", onStop);
  }
}

/** One line without control characters: part of it may be the guest's output. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || String(error) : String(error);
  return text
    .slice(0, mostReason)
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
}
