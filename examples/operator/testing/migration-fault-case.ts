import { until } from "@virtkit/api/clock";
import type { Cluster } from "@virtkit/lab/cluster";
import { changeOf, type SeenGuest, seeGuest } from "./guest-damaged.ts";
import type { GuestWatch } from "./guest-watch.ts";
import { breakPart, type MigrationFault } from "./migration-fault.ts";
import {
  type FaultPhase,
  faultPhases,
  holdAt,
  isReached,
  type MovingScene,
} from "./migration-hold.ts";
import type { MovingVm } from "./moving-vm.ts";
import { isWhole } from "./node-components.ts";
import { qemusOfGuest } from "./qemu-of-guest.ts";
import { runVirtkit } from "./run-virtkit.ts";

/** Where the guest is once everything has settled. `cold`: its memory was lost, and it was restarted. */
export type MigrationFaultOutcome = "stays" | "moves" | "cold";

/** How a case ended, and which guest there was before and after it. */
export interface MigrationFaultResult {
  readonly outcome: MigrationFaultOutcome;
  readonly before: SeenGuest;
  readonly after: SeenGuest;
}

/** What a case works with. */
export interface FaultScene extends MovingScene {
  readonly watch: GuestWatch;
  /** Reports what the case is doing now, so that people know why it did not end. Throws if the case must end. */
  readonly step: (what: string) => void;
  readonly signal: AbortSignal;
}

/** Milliseconds that each wait may take; on an idle host, everything takes a tenth of it. */
const patience = { interval: 200, timeout: 120_000 };

/** Waits for a condition; an error means that it does not hold yet. */
async function eventually(signal: AbortSignal, isTrue: () => Promise<boolean>): Promise<void> {
  let why: unknown;
  const look = async (): Promise<boolean> => {
    try {
      why = undefined;
      return await isTrue();
    } catch (error) {
      why = error;
      return false;
    }
  };
  if (await until(look, { ...patience, signal })) return;
  throw new Error(`not in ${patience.timeout / 1000} s`, { cause: why });
}

/**
 * Moves the guest, breaks a part in one phase, repairs it, and returns where the guest is once everything has settled. Throws if
 * that is not one copy with the grant, if the migration does not end or its end does not fit, and if the guest has done
 * what no single guest can do; `GuestDamaged` if only its kernel has died.
 */
export async function runMigrationFault(
  scene: FaultScene,
  fault: MigrationFault,
  phase: FaultPhase,
): Promise<MigrationFaultResult> {
  const { cluster, vm, watch, step, signal } = scene;
  step("the platform is healthy, and the guest can move");
  await eventually(signal, async () => (await isWhole(cluster)) && (await isMovable(vm)));
  step("the guest counts");
  const before = await seeGuest(vm);
  const name = `${phase}-${fault}`.toLowerCase().replaceAll(" ", "-");
  await breakMigration(scene, name, fault, phase);
  step("one copy runs, has the grant, and the migration is over");
  const isOver = async (): Promise<boolean> => (await endOf(vm, name)) !== "under way";
  await eventually(signal, async () => (await isSettled(vm)) && (await isOver()));
  step("the guest keeps counting");
  const after = await seeGuest(vm, before).finally(() => {
    // A damaged guest does not excuse a second copy.
    const faults = watch.faults();
    if (faults.length > 0) throw new Error(faults.slice(0, 3).join("; "));
  });
  const outcome = await whereItIs(scene, before, after);
  step("the outcomes match");
  assertEnd(await endOf(vm, name), outcome, phase);
  if (outcome === "stays") {
    step("virtkit why names the phase, the side and the reason");
    await assertTold(cluster, vm, name);
  }
  step("the migration is deleted");
  const remove = ["delete", "vmim", name, "-n", vm.namespace, "--ignore-not-found"];
  await cluster.kubectl([...remove, "--timeout=60s"], { timeout: 70_000 });
  return { outcome, before, after };
}

/** Starts the migration, breaks a part of it in a phase, and repairs everything, even if something of that fails. */
async function breakMigration(
  scene: FaultScene,
  name: string,
  fault: MigrationFault,
  phase: FaultPhase,
): Promise<void> {
  const { cluster, vm, step, signal } = scene;
  step(`the migration reaches ${phase}`);
  const letGo = await holdAt(phase, scene);
  const attempts = [
    async () => {
      await vm.migrate(name);
      await eventually(signal, () => isReached(phase, scene, name));
      step("break it");
      const mend = await breakPart(fault, scene, phase);
      step("let the migration continue");
      await letGo();
      step("mend it");
      await mend();
    },
    letGo,
    ...cluster.nodes.flatMap((node) => [
      () => cluster.startNode(node),
      () => cluster.healNode(node),
    ]),
  ];
  const errors: unknown[] = [];
  for (const attempt of attempts) {
    try {
      await attempt();
    } catch (error) {
      errors.push(error);
    }
  }
  const [first, ...others] = errors;
  if (others.length > 0) process.stderr.write(`${name}: not repaired: ${others.join("; ")}\n`);
  // The repairs may have failed only because of it.
  if (first !== undefined) throw first;
}

async function isMovable(vm: MovingVm): Promise<boolean> {
  const { conditions = [], phase } = await vm.vmiStatus();
  const isLive = conditions.some(
    ({ type, status }) => type === "LiveMigratable" && status === "True",
  );
  return phase === "Running" && isLive && (await isSettled(vm));
}

/** One copy of the guest, on the node that the VMI names, whose launcher has the grant. */
async function isSettled(vm: MovingVm): Promise<boolean> {
  const { nodeName, phase } = await vm.vmiStatus();
  const copies = qemusOfGuest(vm.namespace, vm.name).map(({ node }) => node);
  if (phase !== "Running" || copies.length !== 1 || copies[0] !== nodeName) return false;
  const grant = await vm.grant();
  const isHeld = grant.state === "Claimed" && grant.holder.node === nodeName;
  return isHeld && (await vm.launchers()).length === 1;
}

/** How a migration ended; `gone` if its VMI has ended. */
type MigrationEnd = "under way" | "gone" | "Succeeded" | { readonly failed: string };

async function endOf(vm: MovingVm, name: string): Promise<MigrationEnd> {
  const found = (await vm.migrations()).find(({ metadata }) => metadata.name === name);
  if (!found) return "gone";
  const { phase, migrationState } = found.status ?? {};
  if (phase === "Succeeded") return phase;
  if (phase !== "Failed") return "under way";
  const reason = migrationState?.failureReason ?? (await vm.warning("FailedMigration", name));
  return { failed: reason };
}

function assertEnd(end: MigrationEnd, outcome: MigrationFaultOutcome, phase: FaultPhase): void {
  const said = typeof end === "string" ? end : `Failed: ${end.failed}`;
  const hasReason = typeof end !== "string" && end.failed !== "";
  const fits: Record<MigrationFaultOutcome, boolean> = {
    stays: hasReason,
    moves: end === "Succeeded",
    cold:
      phase === "Succeeded" ? end === "Succeeded" || end === "gone" : end === "gone" || hasReason,
  };
  if (!fits[outcome]) throw new Error(`the guest ${outcome}, and the migration says "${said}"`);
}

/** What a person reads about a migration that failed. */
async function assertTold(cluster: Cluster, vm: MovingVm, name: string): Promise<void> {
  const phases = faultPhases.join("|");
  const told = new RegExp(
    `its last migration, ${name}: it did not move from \\S+ to \\S+: ` +
      `the (control plane|source|target) gave up in phase (${phases}): \\S`,
  );
  const { code, out, err } = await runVirtkit(cluster, vm.namespace, "why", vm.name);
  if (code !== 0 || !told.test(out)) {
    throw new Error(`virtkit why: expected ${told}, found exit code ${code}: ${out}${err}`);
  }
}

async function whereItIs(
  { vm, source }: MovingScene,
  before: SeenGuest,
  after: SeenGuest,
): Promise<MigrationFaultOutcome> {
  if (after.count.boot !== before.count.boot) {
    if (after.vmiUid !== before.vmiUid) return "cold";
    throw new Error(
      `the guest has rebooted, and nothing requested that: ${changeOf(before, after)}`,
    );
  }
  return (await vm.nodeName()) === source ? "stays" : "moves";
}
