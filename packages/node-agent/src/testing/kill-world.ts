import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@virtkit/api/clock";
import { clusterConfig } from "@virtkit/api/config";
import { defaultVirtualMachineInstance } from "@virtkit/api/defaults";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import { podResource } from "../service/launcher-pods.ts";
import { vmiResource } from "./agent-world.ts";
import { AttachmentPod } from "./attachment-pod.ts";
import { type AgentOrders, KilledAgent } from "./killed-agent.ts";
import { type LauncherOwner, RealLauncher, realSpec } from "./real-launcher.ts";
import { SocketLauncher } from "./socket-launcher.ts";
import {
  attachmentPodObject,
  grantedTo,
  launcherPod,
  nodeObjects,
  scheduledVmi,
  startedPodStatus,
} from "./vmi-objects.ts";

const nodeName = "node01";
const identity = { machineID: "machine-1", bootID: "boot-1" };

type Vmi = VirtualMachineInstance & KubeObject;

/** An API server, real and simulated launchers, and agents in their own processes, one after another. */
export class KillWorld implements AsyncDisposable {
  readonly real = new Map<string, RealLauncher>();
  readonly simulated = new Map<string, SocketLauncher>();
  readonly #server = new InProcessApiServer();
  readonly #client = this.#server.client("user");
  readonly #directory = mkdtempSync(join(tmpdir(), "virtkit-kill-world-"));
  readonly stateDirectory = `${this.#directory}/state`;
  readonly #attachments: AttachmentPod[] = [];
  #agent: KilledAgent | undefined;
  #spare = new KilledAgent();

  constructor() {
    mkdirSync(`${this.#directory}/sockets`);
    for (const object of nodeObjects(nodeName, identity)) this.#server.seedByKind(object as never);
  }

  /** Starts an agent where its predecessor has died. */
  start(orders: Partial<AgentOrders> = {}, agent: KilledAgent = this.#takeSpare()): KilledAgent {
    if (this.#agent?.isAlive) throw new Error("the previous agent is still alive");
    agent.begin(this.#server.client("agent"), {
      ...{ nodeName, identity, stateDirectory: this.stateDirectory },
      socketDirectory: `${this.#directory}/sockets`,
      momentFile: `${this.#directory}/moments`,
      ...orders,
    });
    this.#agent = agent;
    return agent;
  }

  /** One that has been loading its code meanwhile. */
  #takeSpare(): KilledAgent {
    const spare = this.#spare;
    this.#spare = new KilledAgent();
    return spare;
  }

  /** Guests that agents have on record. */
  get records(): number {
    return readdirSync(`${this.stateDirectory}/guests`).length;
  }

  /** A VMI with a real guest, for an agent to start. */
  async scheduleReal(name: string): Promise<RealLauncher> {
    const owner = await this.#schedule(name, realSpec);
    const launcher = await RealLauncher.start(owner);
    this.real.set(name, launcher);
    await this.#started(launcherPodName(name), launcher.cgroup.containerID);
    return launcher;
  }

  /** A VMI with a simulated guest. */
  async scheduleSimulated(name: string): Promise<SocketLauncher> {
    const owner = await this.#schedule(name);
    const launcher = await SocketLauncher.start(`${this.#directory}/sockets`, owner);
    this.simulated.set(name, launcher);
    await this.#started(launcherPodName(name), launcher.containerID);
    return launcher;
  }

  async vmi(name: string): Promise<Vmi> {
    return (await this.#client.get(vmiResource, { namespace: "default", name })) as Vmi;
  }

  /** Waits until a VMI is as it should be. If that does not happen, throws its state. */
  async untilVmi(name: string, what: string, is: (vmi: Vmi) => boolean): Promise<void> {
    const patience = { interval: 20, timeout: 100_000 };
    if (await until(async () => is(await this.vmi(name)), patience)) return;
    const { status } = await this.vmi(name);
    throw new Error(`${name} has not become ${what} in 100 s: ${JSON.stringify(status)}`);
  }

  /** What a user changes. */
  async edit(name: string, change: (vmi: Vmi) => object): Promise<void> {
    await this.#client.update(vmiResource, change(await this.vmi(name)) as Vmi);
  }

  /** The Pod that a controller has created for volumes to plug in, with its running container. */
  async attach(name: string, podName: string): Promise<{ pod: AttachmentPod; uid: string }> {
    const launcher = await this.#client.get(podResource, {
      ...{ namespace: "default", name: launcherPodName(name) },
    });
    const made = await this.#client.create(
      podResource,
      attachmentPodObject(podName, nodeName, text(launcher.metadata.uid)),
    );
    const uid = text(made.metadata.uid);
    const pod = await AttachmentPod.start(uid);
    this.#attachments.push(pod);
    await this.#started(podName, pod.containerID);
    return { pod, uid };
  }

  async delete(name: string): Promise<void> {
    await this.#client.delete(vmiResource, { namespace: "default", name });
  }

  /** Somebody else writes the status. */
  async changeStatus(
    name: string,
    edit: (status: NonNullable<Vmi["status"]>) => object,
  ): Promise<void> {
    const vmi = await this.vmi(name);
    await this.#client.update(vmiResource, { ...vmi, status: edit(vmi.status ?? {}) } as Vmi);
  }

  /** What a controller does with a VMI whose guest has ended. */
  async release(name: string): Promise<void> {
    const vmi = await this.vmi(name);
    const metadata = { ...vmi.metadata, finalizers: [] };
    await this.#client.update(vmiResource, { ...vmi, metadata } as Vmi);
    this.simulated.get(name)?.[Symbol.dispose]();
    this.simulated.delete(name);
    await this.#client.delete(podResource, { namespace: "default", name: launcherPodName(name) });
  }

  async #schedule(name: string, spec?: Vmi["spec"]): Promise<LauncherOwner> {
    const admitted = spec && defaultVirtualMachineInstance({ spec } as Vmi, clusterConfig()).spec;
    const made = scheduledVmi(name, nodeName, admitted);
    const vmi = await this.#client.create(vmiResource, made);
    const uid = text(vmi.metadata.uid);
    const pod = await this.#client.create(
      podResource,
      launcherPod(launcherPodName(name), nodeName, { name, uid }),
    );
    const podUid = text(pod.metadata.uid);
    const metadata = { ...vmi.metadata, annotations: grantedTo(uid, podUid) };
    await this.#client.update(vmiResource, { ...vmi, metadata } as KubeObject);
    return { name, uid, podUid };
  }

  /** The kubelet says that the launcher runs: from now on an agent finds it. */
  async #started(podName: string, containerID: string): Promise<void> {
    const body = { status: startedPodStatus(containerID, "10.244.7.2") };
    const pod = { namespace: "default", name: podName };
    const patch = { type: "merge", body } as const;
    await this.#client.patch(podResource, pod, patch, { subresource: "status" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent?.kill();
    await this.#spare.kill();
    for (const launcher of this.simulated.values()) launcher[Symbol.dispose]();
    for (const launcher of this.real.values()) await launcher[Symbol.asyncDispose]();
    for (const pod of this.#attachments) await pod[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function launcherPodName(name: string): string {
  return `virt-launcher-${name}`;
}
