import type { KubeClient, Resource } from "@virtkit/kube";
import type { TestCluster } from "@virtkit/testing/cluster";
import { perturbScenario, type Scenario } from "@virtkit/testing/faults";
import { afterAll, expect, test } from "vitest";
import {
  admittedMigration,
  controlPlane,
  migrations,
  startVm,
  startVmi,
  vm,
  webhook,
} from "../testing/control-plane.ts";
import { removeDisks } from "../testing/simulated-node.ts";

afterAll(removeDisks);

const verbs = new Set(["get", "list", "create", "update", "patch", "delete"]);
/** What is written regularly, whether or not a guest moves. */
const regular = new Set(["patch nodes", "update leases", "patch leases"]);

/** How many calls of each kind each process makes to the API server. */
type Calls = Record<string, Record<string, number>>;

/** A client that reports its calls. */
function reporting(client: KubeClient, report: (call: string) => void): KubeClient {
  return new Proxy(client, {
    get(target, verb: keyof KubeClient) {
      const method = target[verb] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        if (verbs.has(verb)) report(`${verb} ${(args[0] as Resource).plural}`);
        return method.apply(target, args);
      };
    },
  });
}

/** The same scenario, which notes the calls of all processes as long as there is a place for them. */
function noting(scenario: Scenario, place: () => Calls | undefined): Scenario {
  const actors = Object.entries(scenario.actors).map(([name, main]) => {
    const note = (call: string): void => {
      const calls = place();
      if (!calls || regular.has(call)) return;
      calls[name] ??= {};
      calls[name][call] = (calls[name][call] ?? 0) + 1;
    };
    const noted: typeof main = async ({ client, ...context }, ...rest) =>
      await main({ ...context, client: reporting(client, note) }, ...rest);
    return [name, noted] as const;
  });
  return { ...scenario, actors: Object.fromEntries(actors) };
}

/** What the first migration of a guest costs until nothing more happens, with as little to copy as half a second takes. */
async function callsOfMigration(start: (cluster: TestCluster) => Promise<void>): Promise<Calls> {
  let place: Calls | undefined;
  const found: Calls = {};
  const play = async (cluster: TestCluster): Promise<void> => {
    await start(cluster);
    await cluster.clock.pass(60_000);
    cluster.wires().bandwidth = 128 * 2 ** 20;
    place = found;
    await cluster.client("user").create(migrations, admittedMigration("move"));
    await cluster.clock.pass(60_000);
    place = undefined;
    const move = await cluster.client("user").get(migrations, { ...vm, name: "move" });
    expect(move).toMatchObject({ status: { phase: "Succeeded" } });
  };
  const scenario = noting(controlPlane("a migration", play), () => place);
  const cluster = { ...scenario.cluster, admission: [webhook] };
  await perturbScenario({ ...scenario, cluster }, { only: "none" });
  return found;
}

const agents = {
  "node agent node-1": {
    // That it has begun, how far it is, and that the source has released its guest.
    "patch virtualmachineinstances": 3,
    "create events": 1,
    ...{ "list virtualmachineinstances": 2, "get virtualmachineinstances": 1, "get pods": 1 },
  },
  "node agent node-2": {
    // Where it listens, the claim with the new node's name, and the guest's interfaces.
    "patch virtualmachineinstances": 3,
    "create events": 1,
    ...{ "list virtualmachineinstances": 2, "get pods": 1, "get nodes": 1 },
  },
};

const controller = {
  // The target; since when it has the guest, and that its gate is open; that the source's has ended.
  ...{ "create pods": 1, "patch pods": 2 },
  // The hand-off; the grant; the image of the guest's new launcher.
  "patch virtualmachineinstances": 3,
  // PreparingTarget, Running, Succeeded, and the finalizer.
  "patch virtualmachineinstancemigrations": 4,
  "create events": 2,
  // Live reads, before the grant is handed over and before the source's Pod is let go.
  ...{ "get virtualmachineinstances": 2, "list pods": 2, "get nodes": 4 },
};

test("a migration costs the API server 10 writes and 2 events by the controllers, and 6 writes and 2 events by the node agents", async () => {
  expect(await callsOfMigration(startVmi)).toEqual({ controller, ...agents });
});

test("a VM adds 3 writes of its status: the target is remembered before the grant may name it", async () => {
  const memory = { "patch virtualmachines": 3, "get virtualmachines": 2 };
  expect(await callsOfMigration(startVm)).toEqual({
    controller: { ...controller, ...memory },
    ...agents,
  });
});
