import type { Clock } from "@virtkit/api/clock";
import type { Names } from "@virtkit/api/names";
import type { ContainerScript, ScriptedPod } from "../cluster/container-script.ts";
import type { GuestScript } from "../hypervisor/guest-script.ts";
import type { MigrationWires } from "../hypervisor/migration/migration-wires.ts";
import type { SeededRandom } from "../virtual-time/seeded-random.ts";
import { SimulatedLauncher } from "./simulated-launcher.ts";

/** Options of a {@link GuestHost}. */
export interface GuestHostOptions {
  readonly node: string;
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly names: Names;
  readonly wires: MigrationWires;
  readonly script: (vmi: { readonly namespace: string; readonly name: string }) => GuestScript;
  /** Called with `namespace/name` of the VMI after each change of a launcher. */
  readonly changed: (vmi: string) => void;
}

/** The launchers on one node, by the Pods that carry them. */
export class GuestHost {
  readonly #options: GuestHostOptions;
  readonly #launchers = new Map<string, SimulatedLauncher[]>();

  constructor(options: GuestHostOptions) {
    this.#options = options;
  }

  /** All launchers of a VMI here, those that have ended too; the newest is the last. */
  launchers(vmi: string): readonly SimulatedLauncher[] {
    return this.#launchers.get(vmi) ?? [];
  }

  /** The VMIs of which launchers are or were here. */
  get known(): readonly string[] {
    return [...this.#launchers.keys()];
  }

  /** All launchers here. */
  get all(): readonly SimulatedLauncher[] {
    return [...this.#launchers.values()].flat();
  }

  /** The script of a launcher's container; undefined if it is another container. */
  script(pod: ScriptedPod, container: string): ContainerScript | undefined {
    const { names, node, clock, random, script, wires, changed } = this.#options;
    const name = pod.annotations[names.annotations.domain];
    const vmiUid = pod.labels[names.labels.createdBy];
    if (pod.labels[names.labels.app] !== "virt-launcher" || container !== "compute")
      return undefined;
    if (name === undefined || vmiUid === undefined) return undefined;
    const { namespace, uid: podUid } = pod;
    const key = `${namespace}/${name}`;
    return {
      program: (process) => {
        const launcher = new SimulatedLauncher({
          identity: { namespace, name, vmiUid, podUid },
          script: script({ namespace, name }),
          ...{ node, clock, random: random.fork(), process, wires },
          changed: () => changed(key),
        });
        this.#launchers.set(key, [...this.launchers(key), launcher]);
        changed(key);
      },
    };
  }

  /** The node has lost its power: nobody here knows any more what ran. */
  forget(): void {
    this.#launchers.clear();
  }
}
