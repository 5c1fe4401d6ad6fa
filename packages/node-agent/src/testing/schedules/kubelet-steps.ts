import { at, text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import type { SmallLauncher } from "./small-launcher.ts";
import { nodeNames, nodeStatus, type SmallWorld } from "./small-world.ts";

/** One thing that can happen next. */
export interface Step {
  readonly name: string;
  take(): void;
}

/** What scheduler and kubelets can do now. */
export function kubeletSteps(world: SmallWorld): readonly Step[] {
  const steps: Step[] = [];
  for (const node of world.nodes) {
    if (!node.isOn || world.cut.has(node.name) || node.boot === node.reportedBoot) continue;
    steps.push({
      name: `kubelet of ${node.name} reports a boot`,
      take: () => reportBoot(world, node),
    });
  }
  for (const pod of world.store.list("pods")) {
    const step = stepOf(world, pod);
    if (step) steps.push(step);
  }
  return steps;
}

function reportBoot(world: SmallWorld, node: SmallWorld["nodes"][number]): void {
  node.reportedBoot = node.boot;
  const body = { status: nodeStatus(node) };
  world.store.patch("kubelet", "nodes", node.name, { type: "merge", body });
}

function stepOf(world: SmallWorld, pod: KubeObject): Step | undefined {
  const { name = "", deletionTimestamp } = pod.metadata;
  const nodeName = text(at(pod, "spec", "nodeName"));
  if (nodeName === "") return deletionTimestamp ? undefined : placement(world, pod);
  const node = world.node(nodeName);
  if (!node.isOn || world.cut.has(nodeName) || node.boot !== node.reportedBoot) return undefined;
  const launcher = world.launchers.find(({ container }) => container.podUid === pod.metadata.uid);
  if (!launcher) {
    if (!deletionTimestamp) return { name: `start ${name}`, take: () => start(world, pod) };
    return letGoOnce(world, pod);
  }
  if (!launcher.hasEnded) return endOf(world, pod, launcher);
  if (!launcher.isReported) {
    return {
      name: `report the end of ${name}`,
      take: () => {
        launcher.isReported = true;
        report(world, name, launcher.container.containerID, true);
      },
    };
  }
  return deletionTimestamp ? letGoOnce(world, pod) : undefined;
}

/** What the scheduler does with a Pod. */
function placement(world: SmallWorld, pod: KubeObject): Step | undefined {
  const { name = "" } = pod.metadata;
  const free = freeNode(world, pod);
  if (free !== undefined) {
    return { name: `schedule ${name}`, take: () => place(world, name, free) };
  }
  if (at(pod, "status", "conditions") !== undefined) return undefined;
  return { name: `no node for ${name}`, take: () => reportUnschedulable(world, name) };
}

/** How a running launcher ends: with its guest, or because its Pod is deleted. */
function endOf(world: SmallWorld, pod: KubeObject, launcher: SmallLauncher): Step | undefined {
  const { name = "", deletionTimestamp } = pod.metadata;
  if (launcher.hasHadGuest && !launcher.isActive) {
    return { name: `${name} ends with its guest`, take: () => launcher.die() };
  }
  if (!deletionTimestamp) return undefined;
  const take = (): void => {
    launcher.die();
    world.breakStreams();
  };
  return { name: `end ${name}`, take };
}

const letGo = new WeakMap<SmallWorld, Set<string>>();

function letGoOnce(world: SmallWorld, { metadata }: KubeObject): Step | undefined {
  const known = letGo.get(world) ?? new Set();
  letGo.set(world, known);
  const { uid = "", name = "" } = metadata;
  if (known.has(uid)) return undefined;
  return {
    name: `let ${name} go`,
    take: () => {
      known.add(uid);
      if (!world.launchers.some(({ podName }) => podName === name)) reportUnstarted(world, name);
      world.store.letGo(name);
    },
  };
}

/** Not the node of another Pod of the same guest, as the target's anti-affinity requires. */
function freeNode(world: SmallWorld, pod: KubeObject): string | undefined {
  const owner = pod.metadata.ownerReferences?.[0]?.uid;
  const taken = new Set(
    world.store
      .list("pods")
      .filter((other) => other !== pod && other.metadata.ownerReferences?.[0]?.uid === owner)
      .filter((other) => !["Failed", "Succeeded"].includes(text(at(other, "status", "phase"))))
      .map((other) => text(at(other, "spec", "nodeName"))),
  );
  return nodeNames.find((name) => {
    const { isOn } = world.node(name);
    const isTainted = at(world.store.find("nodes", name), "spec", "taints") !== undefined;
    return isOn && !taken.has(name) && !isTainted;
  });
}

function place(world: SmallWorld, name: string, nodeName: string): void {
  world.store.patch("scheduler", "pods", name, { type: "merge", body: { spec: { nodeName } } });
}

function start(world: SmallWorld, pod: KubeObject): void {
  const { container } = world.startLauncher(pod);
  report(world, text(pod.metadata.name), container.containerID, false);
}

/** What a scheduler reports about a Pod without a node. It keeps trying. */
function reportUnschedulable(world: SmallWorld, name: string): void {
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable" };
  const body = { status: { phase: "Pending", conditions: [condition] } };
  world.store.patch("scheduler", "pods", name, { type: "merge", body });
}

/** A Pod that was deleted before anything of it was started. */
function reportUnstarted(world: SmallWorld, name: string): void {
  const terminated = { exitCode: 137, reason: "ContainerStatusUnknown" };
  const state = { terminated };
  const containerStatuses = [{ name: "compute", ready: false, restartCount: 0, state }];
  const body = { status: { phase: "Failed", containerStatuses } };
  world.store.patch("kubelet", "pods", name, { type: "merge", body });
}

/** What a kubelet reports about a launcher's container. */
function report(world: SmallWorld, name: string, containerID: string, hasEnded: boolean): void {
  const state = hasEnded
    ? { terminated: { exitCode: 0, reason: "Completed", containerID } }
    : { running: {} };
  const status = {
    phase: hasEnded ? "Succeeded" : "Running",
    podIP: "10.0.0.9",
    podIPs: [{ ip: "10.0.0.9" }],
    conditions: [{ type: "Ready", status: hasEnded ? "False" : "True" }],
    containerStatuses: [{ name: "compute", ready: !hasEnded, restartCount: 0, containerID, state }],
  };
  world.store.patch("kubelet", "pods", name, { type: "merge", body: { status } });
}
