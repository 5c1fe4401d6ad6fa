import { type Cluster, type ClusterNamespace, createNamespace } from "@virtkit/lab/cluster";
import { GuestDamaged } from "./guest-damaged.ts";
import { guestFacts } from "./guest-facts.ts";
import { GuestWatch } from "./guest-watch.ts";
import type { MigrationFault } from "./migration-fault.ts";
import {
  type MigrationFaultOutcome,
  runMigrationFault,
  type Step,
} from "./migration-fault-case.ts";
import { type FaultPhase, installHolds } from "./migration-hold.ts";
import { MovingVm } from "./moving-vm.ts";

/** Seconds for one case, which takes half a minute on an idle host. */
const limit = 240;

/** How many guests a case may damage before it fails. */
const mostDamaged = 2;

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
  #guest: FaultGuest | undefined;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /**
   * Runs one case, with another guest if QEMU has damaged the first one. It ends within a few minutes; if it hangs, the
   * error says what it waited for.
   */
  async run(fault: MigrationFault, phase: FaultPhase): Promise<MigrationFaultOutcome> {
    for (let damaged = 1; ; damaged++) {
      try {
        return await this.#try(fault, phase);
      } catch (error) {
        const isDamaged = error instanceof Error && error.cause instanceof GuestDamaged;
        if (!isDamaged || damaged === mostDamaged) throw error;
        process.stderr.write(`once more, because the guest was damaged: ${error.message}\n`);
      }
    }
  }

  async #try(fault: MigrationFault, phase: FaultPhase): Promise<MigrationFaultOutcome> {
    const guest = this.#guest ?? (await startGuest(this.#cluster));
    this.#guest = undefined;
    let doing = "begins";
    const step: Step = (what) => {
      doing = what;
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`it did not end within ${limit} s`)),
        limit * 1_000,
      );
    });
    try {
      const outcome = await Promise.race([this.#case(guest, fault, phase, step), late]);
      this.#guest = guest;
      return outcome;
    } catch (cause) {
      const why = cause instanceof Error ? `${cause.message} ${cause.cause ?? ""}` : String(cause);
      const message = `${fault} at ${phase}: ${why}; its last step was "${doing}"`;
      throw new Error(`${message}\n${await describe(this.#cluster, guest.vm)}`, { cause });
    } finally {
      clearTimeout(timer);
      if (!this.#guest) await guest[Symbol.asyncDispose]();
    }
  }

  async #case(
    { vm, watch }: FaultGuest,
    fault: MigrationFault,
    phase: FaultPhase,
    step: Step,
  ): Promise<MigrationFaultOutcome> {
    const cluster = this.#cluster;
    const source = await vm.nodeName();
    const target = cluster.nodes.find((node) => node !== source) ?? "";
    return await runMigrationFault({ cluster, vm, source, target, watch, step }, fault, phase);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#guest?.[Symbol.asyncDispose]();
    this.#guest = undefined;
  }
}

async function startGuest(cluster: Cluster): Promise<FaultGuest> {
  const namespace = await createNamespace(cluster);
  const holds = await installHolds(cluster, namespace.name);
  const vm = new MovingVm(cluster, {
    ...{ name: "counter", namespace: namespace.name, sharesAll: true },
  });
  await vm.create();
  await vm.running();
  const watch = new GuestWatch(cluster, vm);
  return { vm, watch, [Symbol.asyncDispose]: () => end({ vm, watch, namespace, holds }) };
}

async function end(parts: {
  readonly vm: MovingVm;
  readonly watch: GuestWatch;
  readonly namespace: ClusterNamespace;
  readonly holds: AsyncDisposable;
}): Promise<void> {
  const { vm, watch, namespace, holds } = parts;
  await watch[Symbol.asyncDispose]();
  await holds[Symbol.asyncDispose]();
  // Leftovers of a case that failed may not end; the next guest has another namespace.
  await vm.remove().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  await namespace[Symbol.asyncDispose]();
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
