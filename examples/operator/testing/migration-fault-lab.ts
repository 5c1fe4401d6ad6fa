import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, createNamespace } from "@virtkit/lab/cluster";
import { changeOf, onceMoreIfDamaged } from "./guest-damaged.ts";
import { guestFacts } from "./guest-facts.ts";
import { GuestWatch } from "./guest-watch.ts";
import type { MigrationFault } from "./migration-fault.ts";
import {
  type MigrationFaultOutcome,
  type MigrationFaultResult,
  runMigrationFault,
} from "./migration-fault-case.ts";
import { type FaultPhase, installHolds } from "./migration-hold.ts";
import { MovingVm } from "./moving-vm.ts";

/** Seconds for one case, which takes half a minute on an idle host. */
const limit = 240;

/** Seconds for a case that is late to repair what it has broken, so that it does not disturb the next one. */
const lastWords = 100;

/**
 * Milliseconds for {@link MigrationFaultLab.run}: two cases, with a new guest and a report for each. A guard against
 * hanging; a case that hangs says itself what it waited for.
 */
export const twoCases = 900_000;

/** A VM whose guest counts and is watched. */
interface FaultGuest extends AsyncDisposable {
  readonly vm: MovingVm;
  readonly watch: GuestWatch;
}

/**
 * A guest for one fault after another, in a cluster that has the platform. The guest of a case that fails is removed, so
 * that the next case gets a new one.
 */
export class MigrationFaultLab implements AsyncDisposable {
  readonly #cluster: Cluster;
  #guest: Promise<FaultGuest> | undefined;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Starts the guest of the first case, while something else happens. If that fails, the case does. */
  prepare(): void {
    this.#guest ??= startGuest(this.#cluster);
    this.#guest.catch(() => undefined);
  }

  /**
   * Runs one case, with another guest if QEMU has damaged the first one. Fails if its outcome is not the expected one. It ends
   * within a few minutes; if it hangs, the error says what it waited for.
   */
  async run(
    fault: MigrationFault,
    phase: FaultPhase,
    expected?: MigrationFaultOutcome,
  ): Promise<MigrationFaultOutcome> {
    return await onceMoreIfDamaged(() => this.#try(fault, phase, expected));
  }

  async #try(
    fault: MigrationFault,
    phase: FaultPhase,
    expected: MigrationFaultOutcome | undefined,
  ): Promise<MigrationFaultOutcome> {
    const starting = this.#guest ?? startGuest(this.#cluster);
    this.#guest = undefined;
    const guest = await starting;
    let doing = "begins";
    const stop = new AbortController();
    const timer = setTimeout(
      () => stop.abort(new Error(`it did not end within ${limit} s`)),
      limit * 1_000,
    );
    const late = new Promise<never>((_, reject) => {
      stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true });
    });
    const step = (what: string): void => {
      stop.signal.throwIfAborted();
      doing = what;
    };
    const running = this.#case(guest, fault, phase, step, stop.signal);
    try {
      const { outcome, before, after } = await Promise.race([running, late]);
      if (expected !== undefined && outcome !== expected) {
        throw new Error(`expected "${expected}", found "${outcome}": ${changeOf(before, after)}`);
      }
      this.#guest = Promise.resolve(guest);
      return outcome;
    } catch (cause) {
      const why = cause instanceof Error ? `${cause.message} ${cause.cause ?? ""}` : String(cause);
      const message = `${fault} at ${phase}: ${why}; its last step was "${doing}"`;
      const facts = await describe(this.#cluster, guest.vm);
      // What it says after it was stopped is not the reason.
      const ended = running.catch(() => undefined);
      await Promise.race([ended, sleep(lastWords * 1_000, undefined, { ref: false })]);
      throw new Error(`${message}\n${facts}`, { cause });
    } finally {
      clearTimeout(timer);
      if (!this.#guest) await guest[Symbol.asyncDispose]();
    }
  }

  async #case(
    { vm, watch }: FaultGuest,
    fault: MigrationFault,
    phase: FaultPhase,
    step: (what: string) => void,
    signal: AbortSignal,
  ): Promise<MigrationFaultResult> {
    const cluster = this.#cluster;
    const source = await vm.nodeName();
    const target = cluster.nodes.find((node) => node !== source) ?? "";
    const scene = { cluster, vm, source, target, watch, step, signal };
    return await runMigrationFault(scene, fault, phase);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const guest = this.#guest;
    this.#guest = undefined;
    // A guest that did not start has been removed, and the case that needed it has failed.
    await (await guest?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }
}

async function startGuest(cluster: Cluster): Promise<FaultGuest> {
  const namespace = await createNamespace(cluster);
  const holds = await installHolds(cluster, namespace.name);
  const vm = new MovingVm(cluster, {
    ...{ name: "counter", namespace: namespace.name, sharesAll: true },
  });
  const end = async (watch?: GuestWatch): Promise<void> => {
    await watch?.[Symbol.asyncDispose]();
    await holds[Symbol.asyncDispose]();
    // Leftovers of a case that failed may not end; the next guest has another namespace.
    await vm.remove().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
    await namespace[Symbol.asyncDispose]();
  };
  try {
    await vm.create();
    await vm.running();
  } catch (cause) {
    const facts = await describe(cluster, vm);
    await end();
    throw new Error(`the guest to break does not start\n${facts}`, { cause });
  }
  const watch = new GuestWatch(cluster, vm);
  return { vm, watch, [Symbol.asyncDispose]: () => end(watch) };
}

/** For people who look for the cause of a failure. */
async function describe(cluster: Cluster, vm: MovingVm): Promise<string> {
  const { namespace, name } = vm;
  const show = async (...args: readonly string[]): Promise<string> =>
    await cluster.kubectl(args).catch((error: unknown) => String(error));
  const logs = (label: string, where: string) => [
    ...["logs", "-n", where, "-l", label, "--tail=25", "--prefix", "--all-containers"],
  ];
  return [
    await guestFacts(vm),
    await show("get", "pods", "-A", "-o", "wide"),
    await show("get", "vmi", name, "-n", namespace, "-o", "jsonpath={.metadata.annotations}"),
    await show("get", "vmi", name, "-n", namespace, "-o", "jsonpath={.status}"),
    await show("get", "vmim", "-n", namespace, "-o", "jsonpath={.items[*].status}"),
    await show("get", "events", "-n", namespace),
    await show(...logs("kubevirt.io=virt-controller", "kubevirt")),
    await show(...logs("kubevirt.io=virt-handler", "kubevirt")),
    await show(...logs("kubevirt.io=virt-launcher", namespace)),
  ].join("\n");
}
