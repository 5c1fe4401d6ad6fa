import type { Leftovers, PodTraces, TraceOwner } from "@virtkit/node-agent/local";

/** The leftovers of this host as lines for people: what can be taken back, what stays and why. */
export function leftoverLines(
  { ownerless, kept, unseen }: Leftovers,
  nameOf: (pod: PodTraces) => string,
): readonly string[] {
  return [
    ...ownerless.flatMap((pod) => podLines(pod, nameOf(pod), "nobody owns it")),
    ...kept.flatMap((pod) => podLines(pod, nameOf(pod), `stays: ${keptReason(pod.owner)}`)),
    ...unseen.map(({ place, problem }) => `  ${place} cannot be looked at: ${problem}`),
  ];
}

function podLines({ traces, running }: PodTraces, name: string, verdict: string): string[] {
  const runs = { yes: "runs; ", no: "", unknown: "may run; " }[running];
  return [
    `  ${name}  (${runs}${verdict})`,
    ...traces.map(({ kind, place }) => `    ${kind.padEnd(17)}  ${place}`),
  ];
}

function keptReason(owner: TraceOwner): string {
  switch (owner.by) {
    case "other-directory":
      return `it is from ${owner.stateDirectory}; look with: virtkit doctor --state-dir ${owner.stateDirectory}`;
    case "unknown":
      return owner.reason;
    case "record":
    case "unreadable-record":
    case "nobody":
      return owner.by;
  }
}

/** A leftover as programs read it. */
export function leftoverObject(pod: PodTraces, name: string): Readonly<Record<string, unknown>> {
  const { podUid, machine, running, owner, traces } = pod;
  const places = traces.map(({ kind, place }) => ({ kind, place }));
  return { leftover: name, podUid, machine, running, owner, traces: places };
}
