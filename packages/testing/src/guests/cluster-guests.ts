import type { Clock } from "@virtkit/api/clock";
import { crds } from "@virtkit/api/crd";
import { type Names, names as namesOf } from "@virtkit/api/names";
import { defineResource, type KubeClient, type Resource } from "@virtkit/kube";
import type { AnyObject } from "../api-server/kind.ts";
import type { ContainerScript, ScriptedPod } from "../cluster/container-script.ts";
import type { Network } from "../cluster/network.ts";
import type { NodeHost } from "../cluster/node-host.ts";
import type { GuestScript } from "../hypervisor/guest-script.ts";
import { MigrationWires } from "../hypervisor/migration/migration-wires.ts";
import type { SimulatedGuest } from "../hypervisor/simulated-guest.ts";
import type { SeededRandom } from "../virtual-time/seeded-random.ts";
import { GuestHost } from "./guest-host.ts";
import type { SimulatedLauncher } from "./simulated-launcher.ts";
import { SimulatedNodeAgent, type VmiObject } from "./simulated-node-agent.ts";

/** Options for the guests on simulated nodes. */
export interface GuestsOptions {
  /** What the guest of a VMI does. By default it boots, has an agent, and shuts down when it is asked to. */
  readonly script?: (vmi: { readonly namespace: string; readonly name: string }) => GuestScript;
  /** The names of the platform. By default KubeVirt's. */
  readonly names?: Names;
  /** Whether nodes run scripted node agents. Default true; set it to false if a test brings its own. */
  readonly agents?: boolean;
}

/** What the guests of a cluster need from it. */
export interface ClusterParts {
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly client: (actor: string) => KubeClient;
  readonly date: (part: string) => Date;
  readonly network: Network;
}

/** The launchers and node agents of all nodes of a cluster. */
export class ClusterGuests {
  readonly names: Names;
  /** What joins the launchers of all nodes. */
  readonly wires: MigrationWires;
  readonly #hasAgents: boolean;
  readonly #script: NonNullable<GuestsOptions["script"]>;
  readonly #hosts = new Map<string, GuestHost>();
  readonly #agents = new Map<string, SimulatedNodeAgent>();
  readonly #parts: ClusterParts;

  constructor(parts: ClusterParts, options: GuestsOptions) {
    const { script = () => ({}), names = namesOf(), agents = true } = options;
    const { clock, network } = parts;
    this.#parts = parts;
    this.#hasAgents = agents;
    const isCut = (one: string, other: string) => network.isCut([one], [other]);
    this.wires = new MigrationWires({ clock, isCut });
    this.#script = script;
    this.names = names;
  }

  /** The definition of the VMI, for the API server. */
  get definition(): AnyObject {
    const { group } = this.names;
    const found = crds({ group }).find(({ spec }) => spec.names.kind === "VirtualMachineInstance");
    return found as unknown as AnyObject;
  }

  /** What nodes report so that launcher Pods are scheduled on them. */
  get node(): {
    readonly labels: Record<string, string>;
    readonly capacity: Record<string, string>;
  } {
    const { devices, nodeLabels } = this.names;
    return {
      labels: {
        [nodeLabels.schedulable]: "true",
        [`${nodeLabels.machineType}q35`]: "true",
        "kubernetes.io/arch": "amd64",
      },
      capacity: Object.fromEntries(Object.values(devices).map((device) => [device, "1000"])),
    };
  }

  /** The part of one node. */
  on(node: string, host: () => NodeHost): { start(): void; stop(): void } {
    const { clock, random, client, date } = this.#parts;
    const { names } = this;
    const guests = new GuestHost({
      ...{ node, clock, random: random.fork(), names, script: this.#script, wires: this.wires },
      changed: (vmi) => agent.look(vmi),
    });
    const agent = new SimulatedNodeAgent({
      ...{ node, clock, random: random.fork(), names, vmis: vmiResource(names) },
      client: client(agentName(node)),
      date: () => date(node),
      boot: () => host().boot,
      launchers: (vmi) => guests.launchers(vmi),
      known: () => guests.known,
    });
    this.#hosts.set(node, guests);
    this.#agents.set(node, agent);
    return {
      start: () => {
        if (this.#hasAgents) agent.start();
      },
      stop: () => {
        agent.stop();
        guests.forget();
      },
    };
  }

  /** The script of a launcher's container on a node. */
  script(node: string, pod: ScriptedPod, container: string): ContainerScript | undefined {
    return this.#hosts.get(node)?.script(pod, container);
  }

  /** The agent of a node. */
  agent(node: string): SimulatedNodeAgent | undefined {
    return this.#agents.get(node);
  }

  /** Launchers that are there, of all VMIs or of one. */
  launchers(vmi?: string): readonly SimulatedLauncher[] {
    const all = [...this.#hosts.values()].flatMap((host) =>
      vmi === undefined ? host.all : host.launchers(vmi),
    );
    return all.filter(({ isOver }) => !isOver);
  }

  /** The guest of a VMI: the one that runs, else the one of its newest launcher. Throws if it has none. */
  guest(vmi: string): SimulatedGuest {
    const found = this.launchers(vmi);
    const one = found.find(({ isRunning }) => isRunning) ?? found.at(-1);
    if (one) return one.guest;
    const others = [...new Set(this.launchers().map(keyOf))].toSorted().slice(0, 10);
    const there =
      others.length > 0 ? `there are launchers of ${others.join(", ")}` : "there are none";
    throw new Error(`no node has a launcher of ${vmi}; ${there}`);
  }
}

/** Under which name a node's agent is known. */
export function agentName(node: string): string {
  return `node agent ${node}`;
}

function keyOf({ identity: { namespace, name } }: SimulatedLauncher): string {
  return `${namespace}/${name}`;
}

function vmiResource({ group }: Names): Resource<VmiObject> {
  return defineResource<VmiObject>({
    ...{ group, version: "v1", plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
  });
}
