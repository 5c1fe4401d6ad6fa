import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "@virtkit/lab/cluster";
import type { FaultPhase, MovingScene } from "./migration-hold.ts";
import { killLeadingController, signalComponent } from "./node-components.ts";
import { firstProcessOf } from "./qemu-of-guest.ts";

/** What goes wrong. */
export const migrationFaults = [
  "virt-controller",
  "source virt-handler",
  "target virt-handler",
  "source launcher",
  "target launcher",
  "source cut from API",
  "target cut from API",
  "source cut from target",
  "source node lost",
] as const;

/** One of {@link migrationFaults}. */
export type MigrationFault = (typeof migrationFaults)[number];

/** For how many milliseconds two nodes cannot reach each other: half as long as the source waits for the target's answer. */
const silence = 5_000;

/** Whether a fault is possible in that phase: before `Scheduled`, no launcher waits for the guest. */
export function isPossible(fault: MigrationFault, phase: FaultPhase): boolean {
  return fault !== "target launcher" || (phase !== "Pending" && phase !== "Scheduling");
}

/** Breaks something. Returns a function that waits until that has had an effect, and repairs it. */
export async function breakPart(
  fault: MigrationFault,
  scene: MovingScene,
  phase: FaultPhase,
): Promise<() => Promise<void>> {
  const { cluster, source, target } = scene;
  switch (fault) {
    case "virt-controller":
      await killLeadingController(cluster);
      return nothing;
    case "source virt-handler":
    case "target virt-handler": {
      const node = fault === "source virt-handler" ? source : target;
      await signalComponent(cluster, node, "virt-handler", "KILL");
      return nothing;
    }
    case "source launcher":
      // A launcher that its guest has left ends by itself.
      await killLauncher(scene, source, phase === "Succeeded");
      return nothing;
    case "target launcher":
      await killLauncher(scene, target, false);
      return nothing;
    case "source cut from API":
    case "target cut from API": {
      const node = fault === "source cut from API" ? source : target;
      await cluster.cutNode(node, "api");
      return async () => {
        await untilMissed(cluster, node);
        await cluster.healNode(node);
      };
    }
    case "source cut from target": {
      await cluster.cutNode(source, "peers");
      // What happens meanwhile, and may take long on a busy host, is part of it.
      const over = sleep(silence);
      return async () => {
        await over;
        await cluster.healNode(source);
      };
    }
    case "source node lost":
      await cluster.killNode(source);
      return async () => {
        await untilMissed(cluster, source);
        await cluster.startNode(source);
      };
  }
}

const nothing = async (): Promise<void> => {};

async function killLauncher(
  { cluster, vm }: MovingScene,
  node: string,
  mayHaveEnded: boolean,
): Promise<void> {
  const path = `/api/v1/namespaces/${vm.namespace}/pods`;
  const { items } = (await cluster.request(path)).body as { items: readonly SeenPod[] };
  const pids = items
    .filter(({ spec }) => spec.nodeName === node)
    .flatMap(({ metadata }) => firstProcessOf(metadata.uid, "launcher") ?? []);
  const [pid] = pids;
  if (pid !== undefined) process.kill(pid, "SIGKILL");
  else if (!mayHaveEnded) throw new Error(`${node} has no launcher of ${vm.name}`);
}

interface SeenPod {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly nodeName?: string };
}

/** Waits until Kubernetes notices that a node is gone. */
async function untilMissed(cluster: Cluster, node: string): Promise<void> {
  const args = ["wait", "node", node, "--for=condition=Ready=Unknown", "--timeout=60s"];
  await cluster.kubectl(args, { timeout: 70_000 });
}
