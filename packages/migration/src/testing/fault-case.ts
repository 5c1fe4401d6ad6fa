import type { ChildLauncher, Outcome } from "./child-launcher.ts";
import type { FrameProxy, Passing } from "./frame-proxy.ts";
import { type Move, patiently, type TwoNodes } from "./two-nodes.ts";

/** What goes wrong. `reply`: exactly one answer is lost, that of the phase that comes next. */
export const faultNames = [
  "source launcher",
  "target launcher",
  "source libvirtd",
  "target libvirtd",
  "proxy",
  "link",
  "reply",
] as const;

/** One of {@link faultNames}. */
export type Fault = (typeof faultNames)[number];

/** When it goes wrong: a side and its seam, as `source finish.after`. */
export type FaultMoment = `${"source" | "target"} ${string}`;

/** All moments of a move, in their order. */
export const moments: readonly FaultMoment[] = [
  ...both("source", ["begin"]),
  "source prepare.before",
  ...both("target", ["prepare"]),
  "source prepare.after",
  ...both("source", ["perform"]),
  "source finish.before",
  ...both("target", ["finish"]),
  "source finish.after",
  ...both("source", ["decision"]),
  "source release.before",
  ...both("target", ["release", "resume", "claim"]),
  "source release.after",
  ...both("source", ["confirm"]),
];

function both(side: "source" | "target", phases: readonly string[]): readonly FaultMoment[] {
  return phases.flatMap((phase): FaultMoment[] => [
    `${side} ${phase}.before`,
    `${side} ${phase}.after`,
  ]);
}

/** Where the guest is after all is settled. */
export type FaultOutcome = "stays" | "moves";

/** Whose answer is lost, by the phase: over the control link, or by number from a side's own libvirt. */
const replies: Readonly<Record<string, readonly ["control" | "source" | "target", string]>> = {
  "source begin": ["source", "302"],
  "source prepare": ["control", "prepare"],
  "source perform": ["source", "305"],
  "source finish": ["control", "finish"],
  "source release": ["control", "release"],
  "source confirm": ["source", "307"],
  "target prepare": ["target", "303"],
  "target finish": ["target", "306"],
  "target resume": ["target", "28"],
};

/** Whether a fault can be at that moment: only a phase that is yet to come has an answer to lose. */
export function isPossible(fault: Fault, moment: FaultMoment): boolean {
  return fault !== "reply" || (moment.endsWith(".before") && phaseOf(moment) in replies);
}

function phaseOf(moment: FaultMoment): string {
  return moment.split(".")[0] ?? "";
}

/**
 * Moves the guest, breaks something at one seam, mends it, lets both sides settle, and returns where the
 * guest is. Throws where it does not end with exactly one copy that runs and has the grant, or where a
 * count was lost, repeated or forked.
 */
export async function runFault(
  lab: TwoNodes,
  fault: Fault,
  moment: FaultMoment,
): Promise<FaultOutcome> {
  const [side = "", seam = ""] = moment.split(" ");
  const hold = { [side === "source" ? "holdSource" : "holdTarget"]: [seam] };
  const move = await lab.move({ ...hold, patience: 1_500, interval: 200 });
  const { source, target } = await move.run();
  const holder = side === "source" ? source : target;
  await holder.reached(seam);
  const mend = await breakIt(move, { source, target }, fault, moment);
  holder.go(seam);
  // A launcher that lives comes to an end of its own, whatever it is.
  if (fault !== "source launcher") await source.outcome();
  await mend();
  await settleBoth(move, { source, target }, fault);
  await patiently("one copy runs", async () => (await lab.running()).length === 1);
  const [runner] = await lab.running();
  await patiently("the one that runs has the grant", async () => {
    const grant = await lab.grant();
    return grant.state === "Claimed" && grant.holder.node === runner?.name;
  });
  await lab.counting();
  const faults = lab.faults();
  if (faults.length > 0) throw new Error(`${fault} at ${moment}: ${faults.slice(0, 3).join("; ")}`);
  return runner === move.source ? "stays" : "moves";
}

interface Launchers {
  readonly source: ChildLauncher;
  readonly target: ChildLauncher;
}

/** Breaks something; returns what mends it. */
async function breakIt(
  move: Move,
  { source, target }: Launchers,
  fault: Fault,
  moment: FaultMoment,
): Promise<() => Promise<void>> {
  const links: readonly FrameProxy[] = [move.control, move.ask];
  switch (fault) {
    case "source launcher":
      await source.kill();
      return async () => {};
    case "target launcher":
      await target.kill();
      return async () => {};
    case "source libvirtd":
    case "target libvirtd": {
      const { daemon } = fault === "source libvirtd" ? move.source : move.target;
      await daemon.kill("KILL");
      return async () => await daemon.restart();
    }
    case "proxy":
      for (const link of [...links, move.data]) {
        link.refuse = true;
        link.cut();
      }
      return async () => {
        for (const link of [...links, move.data]) link.refuse = false;
      };
    case "link":
      for (const link of links) link.rule = () => "drop";
      move.data.stall();
      return async () => {
        for (const link of links) {
          link.rule = () => "pass";
          link.cut();
        }
        move.data.heal();
      };
    case "reply": {
      const [where, name] = replies[phaseOf(moment)] ?? ["control", ""];
      const proxy = where === "control" ? move.control : move[where].local;
      let isLost = false;
      proxy.rule = (passing: Passing) => {
        if (isLost || passing.direction !== "reply" || passing.name !== name) return "pass";
        isLost = true;
        return "drop";
      };
      return async () => {
        proxy.rule = () => "pass";
      };
    }
  }
}

/** What launchers do when they start again, until both have an end. */
async function settleBoth(move: Move, { source, target }: Launchers, fault: Fault): Promise<void> {
  if (fault.startsWith("target ")) {
    await target.kill();
    await move.receive("settleTarget");
  }
  if (source.hasOutcome && isSettled(await source.outcome())) return;
  await source.kill();
  await patiently("the source is settled", async () => {
    const next = await move.drive("settleSource");
    const settled = await next.outcome();
    await next.kill();
    return isSettled({ settled });
  });
}

function isSettled({ settled }: Outcome): boolean {
  const { source } = Object(settled) as { source?: string };
  return source === "runs" || source === "ended";
}
