import type { GuardName } from "@virtkit/api/grant";
import type { FaultWorld } from "./fault-world.ts";

/** What is done to a VMI so that only one guard keeps it from going wrong. */
export interface GuardScenario {
  /** A description of what is done. */
  readonly done: string;
  play(world: FaultWorld): Promise<void>;
  /** What goes wrong without the guard. */
  readonly breach: string;
}

const letGo = "the VMI is removed while its guest runs";
const twoCopies = "2 copies run";

/** The VMI is deleted while nobody can prove that its guest has ended, in one way or another. */
const deleted = (done: string, lose: (world: FaultWorld) => void): GuardScenario => ({
  done: `${done}, and the VMI is deleted`,
  breach: letGo,
  play: async (world) => {
    await world.settle();
    lose(world);
    world.remove();
    await world.settle();
  },
});

/** The node is lost, and objects are removed by force; the VM creates its next VMI. */
const stripped = (done: string, strip: (world: FaultWorld) => void): GuardScenario => ({
  done: `the node is cut off, ${done} by force, and the VM creates the next VMI`,
  breach: twoCopies,
  play: async (world) => {
    await world.settle();
    world.isolate();
    strip(world);
    await world.settle();
  },
});

/** One scenario for each guard that controllers ask; for the others see `alwaysHeld`. */
export const guardScenarios: Readonly<Partial<Record<GuardName, GuardScenario>>> = {
  readable: deleted("the node is cut off, grant and Pod are removed", (world) => {
    world.isolate();
    world.stripGrant();
    world.stripPods();
  }),
  "listed-ended": stripped("the VMI is removed", (world) => world.stripVmi()),
  "remembered-ended": stripped("VMI and Pod are removed", (world) => {
    world.stripVmi();
    world.stripPods();
  }),
  "remember-first": {
    done: "the VM's controller is down while the VMI starts; then the node is cut off, VMI and Pod are removed by force, and the controller comes back",
    breach: twoCopies,
    play: async (world) => {
      await world.round();
      world.isVmSeen = false;
      await world.settle();
      world.isolate();
      world.stripVmi();
      world.stripPods();
      world.isVmSeen = true;
      await world.settle();
    },
  },
  "holder-ended": deleted("the node is cut off, its Pod is removed by force", (world) => {
    world.isolate();
    world.stripPods();
  }),
  "target-ended": {
    done: "a target runs after a release that the grant does not show, and is cut off; the source's node reboots, the Pods are removed by force, and the VMI is deleted",
    breach: letGo,
    play: async (world) => {
      await world.settle();
      world.handOver();
      await world.settle();
      world.arrive();
      world.loseBothSides();
      await world.settle();
      world.stripPods();
      world.remove();
      await world.settle();
    },
  },
  "one-handover": {
    done: "a target runs after a release that the grant does not show, and another migration asks for the guest; then the target's node is cut off, the other one reboots, the Pods are removed by force, and the VMI is deleted",
    breach: letGo,
    play: async (world) => {
      await world.settle();
      world.handOver();
      await world.settle();
      world.arrive();
      world.askForHandover();
      world.loseBothSides();
      await world.settle();
      world.stripPods();
      world.remove();
      await world.settle();
    },
  },
  "source-runs": {
    done: "an agent has claimed and has not created the guest yet, and a migration asks for it",
    breach: "the guest never runs",
    play: async (world) => {
      world.hasAgents = false;
      await world.settle();
      world.claimOnly();
      world.askForHandover();
      world.hasAgents = true;
      await world.settle();
      if (world.running.size === 0) world.problems.push("the guest never runs");
    },
  },
  "proof-names-container": deleted(
    "the node is cut off, another container of the Pod is reported to have ended",
    (world) => {
      world.isolate();
      world.reportEnd("Completed", "c-other");
    },
  ),
  "status-known": deleted(
    "the node is cut off, its kubelet has lost track of the container",
    (world) => {
      world.isolate();
      world.reportEnd("ContainerStatusUnknown");
    },
  ),
  "same-machine": deleted(
    "the node is cut off, another machine takes its name, the Pod is removed by force",
    (world) => {
      world.isolate();
      world.replaceMachine();
      world.stripPods();
    },
  ),
  "other-boot": deleted("the Pod is removed by force", (world) => world.stripPods()),
  "fence-names-boot": deleted(
    "the node is cut off, an earlier boot of it is confirmed to be over, the Pod is removed by force",
    (world) => {
      world.isolate();
      world.fenceEarlierBoot();
      world.stripPods();
    },
  ),
  "fence-not-ready": deleted(
    "the node has the out-of-service taint while it is Ready, the Pod is removed by force",
    (world) => {
      world.taint();
      world.stripPods();
    },
  ),
  "handover-stays": {
    done: "a target runs after a release, its source has ended, and the VMI is deleted before the target's agent has claimed",
    breach: "the guest was destroyed in a handover",
    play: async (world) => {
      await world.settle();
      world.handOver();
      world.hasAgents = false;
      await world.settle();
      world.arrive();
      await world.settle();
      world.isWanted = false;
      world.remove();
      await world.settle();
      world.hasAgents = true;
      await world.settle();
      if (world.vmi) world.problems.push("the VMI is never released");
    },
  },
  "destroy-unnamed": {
    done: "the guest has moved, and the migration controller cleans up after its migration as if it had failed",
    breach: "the guest was destroyed",
    play: async (world) => {
      await world.settle();
      world.handOver();
      await world.settle();
      world.arrive();
      await world.settle();
      world.cleanUpTarget();
      await world.settle();
      if (world.running.size === 0) world.problems.push("the guest was destroyed");
    },
  },
  "forget-unnamed": {
    done: "the guest crashes and its Pod is deleted while the node agent is down; then the VMI is deleted",
    breach: "the next VMI never runs",
    play: async (world) => {
      await world.settle();
      world.hasAgents = false;
      world.crash();
      world.deletePods();
      await world.settle();
      world.hasAgents = true;
      world.remove();
      await world.settle();
      if (world.running.size === 0) world.problems.push("the next VMI never runs");
    },
  },
};

/**
 * Guards that controllers ask, and that always hold there, with the reason. The model in
 * `@virtkit/testing/grant-model` shows what happens without them.
 */
export const alwaysHeld: Readonly<Partial<Record<GuardName, string>>> = {
  "list-is-live": "A pass with a cache stops before it asks; the next one reads live.",
  "destroy-live-read": "A pass with a cache stops before it asks; the next one reads live.",
};
