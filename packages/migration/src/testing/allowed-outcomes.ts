import type { FaultOutcome } from "./fault-case.ts";
import { type Fault, type FaultMoment, moments } from "./fault-moments.ts";

/** Where the guest is at a moment: what a fault can still undo, and what it can destroy. */
type Stage =
  /** Only the source has its whole memory. */
  | "at the source"
  /** The target has its whole memory, too, and the source has not been told. */
  | "on both"
  /** The target has said that it is complete: the source is about to decide that. */
  | "promised"
  /** Decided: the source never runs again, and the target has the whole memory. */
  | "at the target"
  /** QEMU was asked for post-copy, and may or may not have switched. */
  | "switching"
  /** After the switch: parts of the memory are at one side only, and the target does not run. */
  | "split"
  /** The same, and the target runs: a broken stream can be recovered. */
  | "split, runs";

/** The last moment of each stage, in the order of the moments. */
const ends: readonly (readonly [Stage, FaultMoment])[] = [
  ["at the source", "source perform.before"],
  ["on both", "target finish.before"],
  ["promised", "source decision.before"],
  ["at the target", "source confirm.after"],
  ["at the source", "post-copy source switch.before"],
  ["switching", "post-copy source switch.after"],
  ["split", "post-copy target finish.before"],
  ["split, runs", "post-copy target running"],
  ["at the target", "post-copy source confirm.after"],
];

function stageOf(moment: FaultMoment): Stage {
  const index = moments.indexOf(moment);
  const found = ends.find(([, last]) => index <= moments.indexOf(last));
  if (!found || index < 0) throw new Error(`${moment} is not a moment of a migration`);
  return found[0];
}

const stays = ["stays"] as const;
const moves = ["moves"] as const;
const cold = ["cold"] as const;
const either = ["stays", "moves"] as const;
/** The stream ends with the copy, the libvirtd or the link, and the two parts never come together. */
const apart = ["moves", "cold"] as const;
/** Like `apart`, unless QEMU has not switched yet. */
const perhapsApart = ["stays", "moves", "cold"] as const;

/** By stage, for each fault; `other` for those that are not named. */
const rules: Readonly<
  Record<
    Stage,
    Partial<Record<Fault, readonly FaultOutcome[]>> & { other: readonly FaultOutcome[] }
  >
> = {
  // A source's launcher that is killed never finishes what it began.
  "at the source": {
    ...{ "source launcher": stays, "source QEMU": cold, "target QEMU": stays },
    other: either,
  },
  "on both": {
    ...{ "source launcher": stays, "source QEMU": moves, "target QEMU": stays },
    other: either,
  },
  promised: {
    ...{ "source launcher": stays, "source QEMU": moves, "target QEMU": ["stays", "cold"] },
    other: either,
  },
  "at the target": { "target QEMU": cold, other: moves },
  switching: {
    ...{ "source launcher": either, "source libvirtd": either, reply: either },
    ...{ "source QEMU": apart, "target QEMU": ["stays", "cold"] },
    other: perhapsApart,
  },
  split: {
    ...{ "source launcher": moves, "source libvirtd": moves, reply: moves },
    ...{ "source QEMU": apart, "target QEMU": cold },
    other: apart,
  },
  "split, runs": { "source QEMU": apart, "target QEMU": cold, other: moves },
};

/**
 * Where the guest may be after a fault, by the rules of the handover. `cold` is allowed only where a part of the guest existed
 * nowhere else when it was lost.
 */
export function allowedOutcomes(fault: Fault, moment: FaultMoment): readonly FaultOutcome[] {
  const rule = rules[stageOf(moment)];
  return rule[fault] ?? rule.other;
}
