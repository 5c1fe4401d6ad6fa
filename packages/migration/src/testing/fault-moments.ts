/** What goes wrong. `reply`: exactly one answer is lost, that of the phase that comes next. */
export const faultNames = [
  "source launcher",
  "target launcher",
  "source libvirtd",
  "target libvirtd",
  "source QEMU",
  "target QEMU",
  "proxy",
  "link",
  "reply",
] as const;

/** One of {@link faultNames}. */
export type Fault = (typeof faultNames)[number];

/** A side. */
export type Side = "source" | "target";

/** When it goes wrong: a side and its seam, as `source finish.after`; with `post-copy` in a move that has switched. */
export type FaultMoment = `${"" | "post-copy "}${Side} ${string}`;

/** The moments of a move by pre-copy, in order. */
const preCopy: readonly FaultMoment[] = [
  ...both("source begin"),
  "source prepare.before",
  ...both("target prepare"),
  "source prepare.after",
  ...both("source perform"),
  "source finish.before",
  ...both("target finish"),
  "source finish.after",
  ...both("source decision"),
  "source release.before",
  ...both("target release"),
  ...both("target resume"),
  ...both("target claim"),
  "source release.after",
  ...both("source confirm"),
];

/** What is different in a move that switches to post-copy. `running`: the target runs, and misses memory. */
const postCopy: readonly FaultMoment[] = [
  ...both("post-copy source commit"),
  ...both("post-copy source switch"),
  "post-copy source finish.before",
  "post-copy target finish.before",
  "post-copy target running",
  "post-copy target finish.after",
  "post-copy source finish.after",
  ...both("post-copy target claim"),
  ...both("post-copy source confirm"),
];

/** All moments, those of post-copy last. */
export const moments: readonly FaultMoment[] = [...preCopy, ...postCopy];

function both(phase: FaultMoment): readonly FaultMoment[] {
  return [`${phase}.before`, `${phase}.after`];
}

/** A moment in its parts. */
export function partsOf(moment: FaultMoment): {
  readonly isPostCopy: boolean;
  readonly side: Side;
  readonly seam: string;
  /** For example `source finish`. */
  readonly phase: string;
} {
  const isPostCopy = moment.startsWith("post-copy ");
  const [side = "", seam = ""] = moment.replace("post-copy ", "").split(" ");
  return { isPostCopy, side: side as Side, seam, phase: `${side} ${seam.split(".")[0]}` };
}

/** Whose answer is lost, by the phase: over the control link, or by number from a side's own libvirt. */
const replies: Readonly<Record<string, readonly ["control" | Side, string]>> = {
  "source begin": ["source", "302"],
  "source prepare": ["control", "prepare"],
  "source perform": ["source", "305"],
  "source switch": ["source", "364"],
  "source finish": ["control", "finish"],
  "source release": ["control", "release"],
  "source confirm": ["source", "307"],
  "target prepare": ["target", "303"],
  "target finish": ["target", "306"],
  "target resume": ["target", "28"],
};

/** Which answer is lost at a moment. */
export function replyAt(moment: FaultMoment): readonly ["control" | Side, string] | undefined {
  const { phase, seam } = partsOf(moment);
  return seam.endsWith(".before") ? replies[phase] : undefined;
}

const order = moments.map(String);
const isBetween = (moment: FaultMoment, from: FaultMoment, to: FaultMoment): boolean =>
  order.indexOf(moment) >= order.indexOf(from) && order.indexOf(moment) <= order.indexOf(to);

/** Whether a source's QEMU may have ended by itself at that moment: after the release nobody waits for the target. */
export function maySourceHaveEnded(moment: FaultMoment): boolean {
  return (
    isBetween(moment, "target release.before", "source confirm.after") ||
    isBetween(moment, "post-copy target claim.before", "post-copy source confirm.after")
  );
}

/** Whether a fault is possible at that moment: an answer is still to come, or a QEMU exists. */
export function isPossible(fault: Fault, moment: FaultMoment): boolean {
  const { isPostCopy } = partsOf(moment);
  switch (fault) {
    case "reply":
      return replyAt(moment) !== undefined;
    case "source QEMU":
      return moment !== "source confirm.after" && moment !== "post-copy source confirm.after";
    case "target QEMU":
      return isPostCopy || isBetween(moment, "target prepare.after", "source confirm.after");
    case "link":
      // Nobody notices, so nothing happens until a cut ends it, which is the fault `proxy`.
      return moment !== "post-copy target running";
    default:
      return true;
  }
}
