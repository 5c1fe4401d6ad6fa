import { setTimeout as sleep } from "node:timers/promises";
import type { ChildLauncher, Outcome } from "./child-launcher.ts";
import { withinLimit } from "./fault-limit.ts";
import {
  type Fault,
  type FaultMoment,
  maySourceHaveEnded,
  partsOf,
  replyAt,
} from "./fault-moments.ts";
import type { FrameProxy, Passing } from "./frame-proxy.ts";
import {
  type LabNode,
  type Move,
  type MoveOptions,
  patiently,
  type TwoNodes,
} from "./two-nodes.ts";

/** Where the guest is once everything has settled. `cold`: its memory is lost, and both copies have ended. */
export type FaultOutcome = "stays" | "moves" | "cold";

/**
 * Moves the guest, breaks something at one seam, repairs it, lets both sides settle, and returns where the
 * guest is. Throws if it ends neither with exactly one running copy that has the grant, nor with no copy because the
 * memory is gone; if a count was lost, repeated or forked; and if it does not end.
 */
export async function runFault(
  lab: TwoNodes,
  fault: Fault,
  moment: FaultMoment,
): Promise<FaultOutcome> {
  const outcome = await withinLimit(lab, `${fault} at ${moment}`, async (step) => {
    const { isPostCopy, side, seam } = partsOf(moment);
    const hold =
      seam === "running" ? {} : { [`hold${side === "source" ? "Source" : "Target"}`]: [seam] };
    const how: MoveOptions = isPostCopy ? postCopy(seam) : {};
    step("start both launchers");
    const patience = patienceFor(fault, isPostCopy);
    const move = await lab.move({ ...how, ...hold, patience, interval: 200 });
    const { source, target } = await move.run();
    const holder = side === "source" ? source : target;
    step(`reach ${moment}`);
    if (seam === "running") await runningInPostCopy(lab, move);
    else await holder.reached(seam);
    step("break it");
    const mend = await breakIt(move, { source, target }, fault, moment);
    source.letTimePass();
    holder.go(seam);
    const ends = async (): Promise<void> => {
      step("the source ends by itself");
      if (fault !== "source launcher") await source.outcome();
    };
    const isPatient = fault === "link" && waitsForLink(moment);
    if (!isPatient) await ends();
    step("mend it");
    await mend();
    if (isPatient) await ends();
    step("both settle");
    await settleBoth(lab, move, { source, target }, fault);
    step("the target learns whether its source has ended");
    await proveSourceEnd(lab, move, { source, target }, fault);
    step("the guest is where it belongs");
    return await whereItIs(lab, move);
  });
  // For the next case. On a busy host a guest takes long to boot, which must not count as time of this case.
  if (outcome === "cold") await lab.boot({ copies: lab.copies });
  return outcome;
}

/**
 * Milliseconds that the source waits for each answer once something is broken. After a fault that nobody notices, and in a
 * post-copy that has broken, it waits that long for nothing, and the length changes nothing. Otherwise answers do come, and one
 * that a busy host gives too late would make the guest stay.
 */
function patienceFor(fault: Fault, isPostCopy: boolean): number {
  return isPostCopy || fault === "link" || fault === "reply" ? 1_500 : 5_000;
}

/**
 * Whether a source waits for a link that is silent. After the switch it cannot go back, and before the target runs
 * it does not know more. On a node, the proxies cut a stream that has not moved for two minutes.
 */
function waitsForLink(moment: FaultMoment): boolean {
  const { isPostCopy, phase, seam } = partsOf(moment);
  return (
    isPostCopy && (phase === "source switch" ? seam.endsWith("after") : seam === "finish.before")
  );
}

/** A move that switches at once, and so slow that something can be broken before it is over, even on a busy host. */
function postCopy(seam: string): MoveOptions {
  const slow = seam === "running" ? 4 : 100;
  return {
    flags: ["postcopy"],
    params: { bandwidth: 10, "bandwidth.postcopy": slow },
    giveUp: { iteration: 1, how: "postCopy" },
  };
}

async function runningInPostCopy(lab: TwoNodes, move: Move): Promise<void> {
  await patiently("the target runs in post-copy", async () =>
    (await lab.state(move.target)).startsWith("running"),
  );
  // If it breaks sooner, its devices may wait for pages and hold QEMU's lock, and QEMU 7.2 no longer answers.
  await lab.counting(3);
}

interface Launchers {
  readonly source: ChildLauncher;
  readonly target: ChildLauncher;
}

const nothing = async (): Promise<void> => {};

/** Breaks something, and returns a function that repairs it. */
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
      return nothing;
    case "target launcher":
      await target.kill();
      return nothing;
    case "source libvirtd":
    case "target libvirtd": {
      const { daemon } = fault === "source libvirtd" ? move.source : move.target;
      await daemon.kill("KILL");
      return async () => await daemon.restart();
    }
    case "source QEMU":
    case "target QEMU":
      await killQemu(move, fault, moment);
      return nothing;
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
      const [where, name] = replyAt(moment) ?? ["control", ""];
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

async function killQemu(
  move: Move,
  fault: "source QEMU" | "target QEMU",
  moment: FaultMoment,
): Promise<void> {
  const isSource = fault === "source QEMU";
  const wasThere = await move.killQemu(isSource ? move.source : move.target);
  if (!wasThere && !(isSource && maySourceHaveEnded(moment))) throw new Error("it has no QEMU");
}

/** What restarted launchers do until both have ended, and what a person does about a broken stream. */
async function settleBoth(
  lab: TwoNodes,
  move: Move,
  { source, target }: Launchers,
  fault: Fault,
): Promise<void> {
  await lab.revive();
  if (fault.startsWith("target ")) {
    await target.kill();
    await move.receive("settleTarget");
  }
  if (source.hasOutcome && isSettled(await source.outcome())) return;
  await source.kill();
  await patiently("the source is settled", async () => {
    await lab.revive();
    const settled = await inALife(move, "settleSource");
    if (Object(settled)["for"] !== "recovery") return isSettled({ settled });
    return isSettled({ settled: await inALife(move, "recover") });
  });
}

/** What the agents do about a source whose QEMU is gone: its launcher ends, too, and the target receives the proof. */
async function proveSourceEnd(
  lab: TwoNodes,
  move: Move,
  { source, target }: Launchers,
  fault: Fault,
): Promise<void> {
  if (fault !== "source QEMU") return;
  if (!(await lab.hasEnded(move.source))) throw new Error("the source runs without its QEMU");
  await source.kill();
  target.prove([{ kind: "processGone", ...move.from, seen: "pidfd" }]);
}

/** One more life of the source's launcher. */
async function inALife(move: Move, mode: "settleSource" | "recover"): Promise<Outcome> {
  const next = await move.drive(mode, { "bandwidth.postcopy": 200 });
  try {
    return await next.outcome();
  } finally {
    await next.kill();
  }
}

/** A source that waits for a cold start waits for a controller: for its launcher, the migration is over. */
function isSettled({ settled }: Outcome): boolean {
  const { source, for: missing } = Object(settled) as { source?: string; for?: string };
  return source === "runs" || source === "ended" || missing === "coldStart";
}

async function whereItIs(lab: TwoNodes, move: Move): Promise<FaultOutcome> {
  let isLost = false;
  await patiently("one copy runs and has the grant, or the memory is lost", async () => {
    const [runner, ...others] = await lab.running();
    if (others.length > 0) throw new Error("two copies run");
    if (!runner) {
      isLost = await isLostForGood(lab, move);
      return isLost;
    }
    const grant = await lab.grant();
    return grant.state === "Claimed" && grant.holder.node === runner.name;
  });
  const [there] = await lab.running();
  assertCounts(lab, there ?? (await imageLeft(lab, move)));
  if (isLost) {
    await lab.grantAnew(move);
    return "cold";
  }
  await lab.counting();
  const [runner] = await lab.running();
  assertCounts(lab, runner);
  return runner === move.source ? "stays" : "moves";
}

/** Whose disk a guest without memory starts from: that of the node that may run it, or may have run it last. */
async function imageLeft(lab: TwoNodes, move: Move): Promise<LabNode> {
  const grant = await lab.grant();
  const isSources =
    grant.state === "HandingOver" ||
    (grant.state === "Claimed" && grant.holder.node === move.source.name);
  return isSources ? move.source : move.target;
}

/** Checks twice: a copy that is just being ended or started also looks absent. */
async function isLostForGood(lab: TwoNodes, move: Move): Promise<boolean> {
  if (!(await lab.isLost(move))) return false;
  await sleep(500);
  return await lab.isLost(move);
}

function assertCounts(lab: TwoNodes, node: LabNode | undefined): void {
  const faults = lab.faults(node);
  if (faults.length > 0) throw new Error(faults.slice(0, 3).join("; "));
}
