import type { Leftovers, PodTraces } from "@virtkit/local";

/** The leftovers of this host as lines for people: what can be removed, what stays and why. */
export function leftoverLines(
  { ownerless, kept, unseen }: Leftovers,
  nameOf: (pod: PodTraces) => string,
): readonly string[] {
  return [
    ...ownerless.flatMap((pod) => podLines(pod, nameOf(pod), "nobody owns it")),
    ...kept.flatMap((pod) => podLines(pod, nameOf(pod), `stays: ${keptReason(pod)}`)),
    ...unseen.map(({ place, problem }) => `  ${place} cannot be read: ${problem}`),
  ];
}

function podLines({ traces, running }: PodTraces, name: string, verdict: string): string[] {
  const runs = { yes: "runs; ", no: "", unknown: "may run; " }[running];
  return [
    `  ${name}  (${runs}${verdict})`,
    ...traces.map(({ kind, place }) => `    ${kind.padEnd(17)}  ${place}`),
  ];
}

function keptReason({ owner, podUid }: PodTraces): string {
  switch (owner.by) {
    case "other-directory":
      return `it belongs to ${owner.stateDirectory}; see: virtkit doctor --state-dir ${owner.stateDirectory}`;
    case "unknown":
      if (owner.isHere || podUid === undefined) return owner.reason;
      return `${owner.reason}; if nobody needs it, run: virtkit rm ${podUid}`;
    case "record":
    case "unreadable-record":
    case "nobody":
      return owner.by;
  }
}

/** A leftover as programs read it. */
export function leftoverObject(pod: PodTraces, name: string): Readonly<Record<string, unknown>> {
  const { podUid, vmi, running, owner, traces } = pod;
  const places = traces.map(({ kind, place }) => ({ kind, place }));
  return { leftover: name, podUid, vmi, running, owner, traces: places };
}
