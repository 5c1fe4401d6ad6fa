import type { Disturbance, RequestFault } from "./disturbance.ts";

/** One disturbance of one actor, at one point of its run. */
export type Perturbation =
  /** It crashes before or after its n-th write took effect, and starts over a second later. */
  | {
      readonly kind: "crash";
      readonly actor: string;
      readonly when: "before" | "after";
      readonly write: number;
    }
  /** Its n-th write takes effect, but no answer comes: a time-out. */
  | { readonly kind: "lost-answer"; readonly actor: string; readonly write: number }
  /** Its n-th write gets no answer, and takes effect only after the actor has moved on. */
  | { readonly kind: "late-write"; readonly actor: string; readonly write: number }
  /** From its n-th event on, it sees everything late for a while, as if the server lagged. */
  | { readonly kind: "stale-view"; readonly actor: string; readonly event: number }
  /** It misses its n-th event and all that follow, until a list shows it the current state. */
  | { readonly kind: "unobserved-event"; readonly actor: string; readonly event: number };

/** For how long a lagging server lags, and how long an actor is blind. Longer than a controller takes for anything. */
const lagMilliseconds = 20_000;

/**
 * When a late write takes effect: most actors try again after about a second, and have read the state as it is without it
 * by then.
 */
const lateMilliseconds = 5_000;

/** A perturbation as one line, which can be used to replay it. */
export function perturbationText(perturbation: Perturbation): string {
  const { kind, actor } = perturbation;
  if (kind === "crash") return `${actor}:crash-${perturbation.when}-write-${perturbation.write}`;
  if (kind === "lost-answer") return `${actor}:lost-answer-to-write-${perturbation.write}`;
  if (kind === "late-write") return `${actor}:late-write-${perturbation.write}`;
  return `${actor}:${kind}-${perturbation.event}`;
}

/** Every perturbation of an actor that made so many writes and saw so many events undisturbed. */
export function perturbationsOf(
  actor: string,
  { writes, events }: { readonly writes: number; readonly events: number },
): readonly Perturbation[] {
  const all: Perturbation[] = [];
  for (let write = 1; write <= writes; write++) {
    all.push({ kind: "crash", actor, when: "before", write });
    all.push({ kind: "crash", actor, when: "after", write });
    all.push({ kind: "lost-answer", actor, write });
    all.push({ kind: "late-write", actor, write });
  }
  for (let event = 1; event <= events; event++) {
    all.push({ kind: "stale-view", actor, event });
    all.push({ kind: "unobserved-event", actor, event });
  }
  return all;
}

/** What a perturbation does, as something that can be asked. */
export function disturbanceOf(perturbation: Perturbation | undefined): Disturbance {
  return {
    write(count) {
      if (!perturbation || !("write" in perturbation) || perturbation.write !== count)
        return undefined;
      return requestFaultOf(perturbation);
    },
    event(count) {
      if (!perturbation || !("event" in perturbation) || perturbation.event !== count)
        return undefined;
      const kind = perturbation.kind === "stale-view" ? "late" : "blind";
      return { kind, milliseconds: lagMilliseconds };
    },
  };
}

function requestFaultOf(perturbation: Extract<Perturbation, { write: number }>): RequestFault {
  switch (perturbation.kind) {
    case "crash":
      return { kind: "crash", when: perturbation.when };
    case "lost-answer":
      return { kind: "no-answer", effect: true };
    case "late-write":
      return { kind: "lands-late", milliseconds: lateMilliseconds };
  }
}
