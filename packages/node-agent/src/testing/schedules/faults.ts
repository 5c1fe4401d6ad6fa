import { names as namesOf } from "@virtkit/api/names";
import { at, text } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import type { Choices } from "./choices.ts";
import type { Step } from "./kubelet-steps.ts";
import type { SmallWorld } from "./small-world.ts";

const names = namesOf();

/** Milliseconds after which what was broken is repaired, unless the schedule ends before. */
const lasts = [500, 3_000, 12_000, 40_000, 90_000];

/** What can go wrong now, or what a user can do: none of it is done by the control plane. */
export function faultSteps(world: SmallWorld, choices: Choices): readonly Step[] {
  const steps: Step[] = [];
  const add = (name: string, take: () => void): void => void steps.push({ name, take });
  const later = (act: () => void): void => void world.clock.setTimeout(act, choices.pick(lasts));
  for (const name of world.controllers.keys()) {
    add(`crash of ${name.replace(/-\d$/, "")}`, () => {
      world.stopController(name);
      later(() => world.startController(name));
    });
  }
  if (!world.controllers.has("controller-2")) {
    add("second controller", () => world.startController("controller-2"));
  }
  add("controller cut from API", () => separate(world, "controller-1", later));
  for (const { name, agent, isOn } of world.nodes) {
    if (agent) {
      add(`crash of ${side(world, name)} agent`, () => {
        world.stopAgent(name);
        later(() => {
          const node = world.node(name);
          if (node.isOn && !node.agent) world.startAgent(name);
        });
      });
      const { owner } = agent.life;
      add(`${side(world, name)} agent sees nothing`, () => {
        world.blind.add(owner);
        later(() => world.blind.delete(owner));
      });
    }
    add(`${side(world, name)} node cut from API`, () => separate(world, name, later));
    if (isOn) {
      add(`power loss of ${side(world, name)} node`, () => {
        world.cutPower(name);
        later(() => world.restorePower(name));
      });
    }
  }
  add("nodes parted", () => {
    world.isPeerCut = true;
    later(() => {
      world.isPeerCut = false;
    });
  });
  add("streams break", () => world.breakStreams());
  for (const message of ["prepare", "finish", "release", "abort", "decision"] as const) {
    add(`lost reply to ${message}`, () => world.wires.loseReply(message));
  }
  for (const launcher of world.launchers) {
    if (launcher.hasEnded) continue;
    add(`crash of ${side(world, launcher.node)} launcher`, () => {
      launcher.die();
      world.breakStreams();
    });
    if (launcher.isRunning)
      add("guest ends", () => forced(world, () => launcher.guest.happen({ kind: "qemu-ends" })));
  }
  for (const step of userSteps(world)) steps.push(step);
  return steps;
}

/** What users do. */
export function userSteps(world: SmallWorld): readonly Step[] {
  const { vmi, store } = world;
  const steps: Step[] = [];
  if (vmi && !vmi.metadata.deletionTimestamp) {
    steps.push({
      name: "VMI deleted",
      take: () => store.delete("user", "virtualmachineinstances", { name: "demo" }),
    });
    const node = text(vmi.status?.nodeName);
    if (node !== "") {
      const body = { status: { evacuationNodeName: node } };
      steps.push({
        name: "eviction",
        take: () =>
          void store.patch("user", "virtualmachineinstances", "demo", { type: "merge", body }),
      });
      if (!store.list("nodes").some((each) => at(each, "spec", "taints") !== undefined)) {
        const taints = [{ key: "kubevirt.io/drain", effect: "NoSchedule" }];
        steps.push({
          name: "drain",
          take: () =>
            void store.patch("user", "nodes", node, { type: "merge", body: { spec: { taints } } }),
        });
      }
    }
    const count = store.list("virtualmachineinstancemigrations").length;
    if (count < 3) steps.push({ name: "migration asked for", take: () => migrate(world) });
  }
  return [...steps, ...deletions(store)];
}

/** What users delete besides VMIs. */
function deletions(store: SmallWorld["store"]): readonly Step[] {
  const steps: Step[] = [];
  for (const { metadata } of store.list("virtualmachineinstancemigrations")) {
    if (metadata.deletionTimestamp) continue;
    steps.push({
      name: "abort",
      take: () =>
        store.delete("user", "virtualmachineinstancemigrations", { name: text(metadata.name) }),
    });
  }
  for (const pod of store.list("pods")) {
    const { deletionTimestamp, name = "" } = pod.metadata;
    if (deletionTimestamp) continue;
    const which = entryOf(pod) ? "target" : "source";
    steps.push({
      name: `${which} Pod deleted`,
      take: () => store.delete("user", "pods", { name }),
    });
  }
  return steps;
}

/** A user requests a migration, which the webhook admits as usual. */
export function migrate(world: SmallWorld): void {
  const count = world.store.version;
  world.store.create("user", "virtualmachineinstancemigrations", {
    ...{ apiVersion: `${names.group}/v1`, kind: "VirtualMachineInstanceMigration" },
    metadata: { namespace: "default", name: `move-${count}` },
    spec: { vmiName: "demo" },
  } as KubeObject);
}

function entryOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[names.annotations.migrationJobName];
}

function separate(world: SmallWorld, name: string, later: (act: () => void) => void): void {
  world.cut.add(name);
  later(() => world.cut.delete(name));
}

/** Something happens to a guest that the control plane did not do. */
function forced(world: SmallWorld, act: () => void): void {
  world.promises.isForced = true;
  act();
  world.promises.isForced = false;
}

/** The side that a node is on: where the guest is according to its VMI, or where it goes. */
function side(world: SmallWorld, node: string): "source" | "target" {
  return world.vmi?.status?.nodeName === node ? "source" : "target";
}
