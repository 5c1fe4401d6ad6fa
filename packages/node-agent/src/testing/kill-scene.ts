import { isDeepStrictEqual } from "node:util";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { DomainStatus } from "@virtkit/domain-manager";
import { podResource } from "../service/launcher-pods.ts";
import { AgentWorld, nodeName, type WorldLauncher } from "./agent-world.ts";
import { attachmentPodObject } from "./vmi-objects.ts";

/** Of virtual time: enough for a guest to start, and for one to end. */
export const aWhile = 15_000;

const told = ["r1", "r2"];

/** What of a status only an agent that has heard the guest can say. */
function heard(vmi: VirtualMachineInstance | undefined): unknown {
  const { phase, conditions = [], interfaces = [], guestOSInfo } = vmi?.status ?? {};
  const types = conditions.map((each) => `${each.type} ${each.status}`).toSorted();
  return { phase, types, interfaces, guestOSInfo };
}

const phaseIn = (vmi: VirtualMachineInstance | undefined): unknown => vmi?.status?.phase;

/**
 * A node with two guests that run, and one of each kind for which an agent has something to do: to start, to end, to
 * kill because it does not shut down, to end because its VMI was made anew, and to give and take volumes and to dump.
 */
export class KillScene implements AsyncDisposable {
  readonly world = new AgentWorld();
  readonly #launchers = new Map<string, WorldLauncher>();
  #before: readonly (VirtualMachineInstance | undefined)[] = [];
  #areRight = true;

  /** An agent has started what runs, and is gone; now there is something to do for the next one. */
  static async begin(): Promise<KillScene> {
    const scene = new KillScene();
    const { world } = scene;
    await scene.#schedule("r1");
    // Its launcher does not report what its guest agent can do: it has to be asked.
    hideAgent(await scene.#schedule("r2"));
    await scene.#schedule("ending");
    const stubborn = await scene.#schedule("stubborn", { terminationGracePeriodSeconds: 5 });
    stubborn.guest.shutdown = async () => {};
    await scene.#schedule("remade");
    await scene.#schedule("storing");
    world.start();
    await world.clock.pass(aWhile);
    world.stop();
    scene.#before = await Promise.all(told.map((name) => world.vmi(name)));
    await scene.#schedule("starting");
    await world.delete("ending");
    await world.delete("stubborn");
    await scene.#remake();
    await scene.#changeVolumes();
    return scene;
  }

  /** Takes what only a heard guest can have out of the status of those that run: who says it again has heard them. */
  async spoil(): Promise<void> {
    for (const name of told) {
      await this.world.changeStatus(name, ({ interfaces: _, guestOSInfo: __, ...status }) => ({
        ...status,
        conditions: (status.conditions ?? []).filter(({ type }) => type !== "AgentConnected"),
      }));
    }
  }

  /**
   * Notes whether the statuses of those that run are right. An agent without its state says nothing new about a guest:
   * it cannot prove that it is its own.
   */
  async look(losesState: boolean): Promise<void> {
    const now = await Promise.all(told.map((name) => this.world.vmi(name)));
    const shown = losesState ? phaseIn : heard;
    this.#areRight = isDeepStrictEqual(now.map(shown), this.#before.map(shown));
  }

  /** What was done to guests that nothing should be done to, or twice; undefined if nothing was. */
  fault(): string | undefined {
    for (const name of told) {
      const { starts, isRunning, calls } = this.#of(name);
      const isTouched = calls.includes("kill") || calls.includes("shutdown");
      if (starts !== 1 || !isRunning || isTouched) return "a running guest was touched";
    }
    for (const [name, { starts }] of this.#launchers) {
      if (starts > 1) return `the guest ${name} was started ${starts} times`;
    }
    return this.#areRight ? undefined : "the status was wrong after 3 s";
  }

  /** What became of the guests, in a word each; a fault stands out. */
  async outcome(): Promise<string> {
    const fault = this.fault();
    if (fault !== undefined) return fault;
    const parts = [this.#started(), this.#ended(), this.#killed(), this.#remade(), this.#stored()];
    return ["untouched", ...(await Promise.all(parts))].join("; ");
  }

  async #started(): Promise<string> {
    const isWell = this.#of("starting").isRunning && (await this.#phase("starting")) === "Running";
    return isWell ? "started once" : "not started";
  }

  async #ended(): Promise<string> {
    const [{ isRunning, calls }, phase] = [this.#of("ending"), await this.#phase("ending")];
    const isWell = !isRunning && phase === "Succeeded" && !calls.includes("kill");
    return isWell ? "ended in order" : `left ${phase}`;
  }

  async #killed(): Promise<string> {
    const [{ isRunning, calls }, phase] = [this.#of("stubborn"), await this.#phase("stubborn")];
    const isWell =
      !isRunning && phase === "Failed" && calls.indexOf("kill") > calls.indexOf("shutdown");
    return isWell ? "killed after its time" : `left ${phase}`;
  }

  async #remade(): Promise<string> {
    const [older, newer] = [this.#of("remade"), this.#of("remade anew")];
    if (older.isRunning) return "the older one runs";
    const isWell = newer.isRunning && (await this.#phase("remade")) === "Running";
    return isWell && !newer.calls.includes("shutdown") ? "replaced" : "the newer one does not run";
  }

  async #stored(): Promise<string> {
    const { guest, plugged, isRunning } = this.#of("storing");
    const { volumeStatus = [] } = (await this.world.vmi("storing"))?.status ?? {};
    const phases = volumeStatus.map(({ name, phase }) => `${name} ${phase}`).toSorted();
    const found = {
      phases,
      plugged: [...plugged].toSorted(),
      dumps: guest.dumps.length,
      isRunning,
    };
    const wanted = {
      phases: ["data Ready", "dump MemoryDumpCompleted"],
      ...{ plugged: ["data", "dump"], dumps: 1, isRunning: true },
    };
    return isDeepStrictEqual(found, wanted) ? "stored" : JSON.stringify(found);
  }

  #of(name: string): WorldLauncher {
    const launcher = this.#launchers.get(name);
    if (!launcher) throw new Error(`there is no guest ${name}`);
    return launcher;
  }

  async #phase(name: string): Promise<string | undefined> {
    return (await this.world.vmi(name))?.status?.phase;
  }

  async #schedule(
    name: string,
    change: Partial<VirtualMachineInstance["spec"]> = {},
    as = name,
  ): Promise<WorldLauncher> {
    const launcher = await this.world.schedule(name, change);
    this.#launchers.set(as, launcher);
    return launcher;
  }

  /** Somebody strips the finalizer while no agent looks, and makes the VMI anew. */
  async #remake(): Promise<void> {
    const { world } = this;
    await world.change("remade", (vmi) => ({
      ...vmi,
      metadata: { ...vmi.metadata, finalizers: [] },
    }));
    await world.delete("remade");
    const pod = { namespace: "default", name: "virt-launcher-remade" };
    await world.client.delete(podResource, pod, { gracePeriodSeconds: 0 });
    await this.#schedule("remade", {}, "remade anew");
  }

  /** One volume goes, another comes, and a third one is to take the memory. */
  async #changeVolumes(): Promise<void> {
    const { client } = this.world;
    const launcher = this.#of("storing");
    launcher.plugged.add("gone").add("dump");
    const made = await client.create(
      podResource,
      attachmentPodObject("hp-1", nodeName, launcher.container.podUid),
    );
    const running = { name: "hotplug-disk", containerID: "containerd://b", state: { running: {} } };
    const body = { status: { containerStatuses: [running] } };
    const place = { namespace: "default", name: "hp-1" };
    await client.patch(podResource, place, { type: "merge", body }, { subresource: "status" });
    const hotplugVolume = { attachPodName: "hp-1", attachPodUID: made.metadata.uid };
    await this.world.change("storing", (object) => {
      const vmi = object as unknown as VirtualMachineInstance;
      const devices = { disks: [{ name: "data", disk: { bus: "scsi" } }] };
      const claim = (claimName: string) => ({ claimName, hotpluggable: true });
      const volumes = [
        { name: "data", persistentVolumeClaim: claim("data") },
        { name: "dump", memoryDump: claim("dump") },
      ];
      const of = { target: "", hotplugVolume };
      const volumeStatus = [
        { name: "data", phase: "AttachedToNode", ...of },
        { name: "dump", phase: "MountedToPod", ...of, memoryDumpVolume: { claimName: "dump" } },
      ];
      return {
        ...vmi,
        spec: { ...vmi.spec, domain: { ...vmi.spec.domain, devices }, volumes },
        status: { ...vmi.status, volumeStatus },
      };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}

function hideAgent({ guest }: WorldLauncher): void {
  const tell = guest.events.bind(guest);
  guest.events = async function* (options) {
    for await (const event of tell(options)) {
      yield event.kind === "status" ? { ...event, status: withoutAgent(event.status) } : event;
    }
  };
}

function withoutAgent(status: DomainStatus): DomainStatus {
  const { agentVersion: _, agentCommands: __, ...rest } = status;
  return rest;
}
