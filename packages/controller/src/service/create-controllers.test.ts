import { names } from "@virtkit/api/names";
import { expect, test } from "vitest";
import { podResource, vmiResource } from "../plan/resources.ts";
import { countedReads } from "../testing/counted-reads.ts";
import { type ServiceWorld, serviceWorld } from "../testing/service-world.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";

const vmis = vmiResource(names());
const name = { namespace: "default", name: "vm" };

/** A VMI with a running guest. */
async function running(world: ServiceWorld): Promise<void> {
  const user = world.cluster.client("user");
  await user.create(vmis, admittedVmi("vm"));
  await world.cluster.clock.pass(30_000);
  expect(await user.get(vmis, name)).toMatchObject({
    status: {
      phase: "Running",
      nodeName: "node-1",
      conditions: [{ type: "Ready", status: "True" }],
    },
  });
}

test("the life of a VMI costs 7 writes and 2 events, none of which fails", async () => {
  await using world = await serviceWorld();
  const { cluster } = world;
  const user = cluster.client("user");
  const reads: string[] = [];
  world.startControllers("controller", {
    client: countedReads(cluster.client("controller"), reads),
  });
  await cluster.clock.pass(5_000);
  await running(world);
  expect(world.writes("controller")).toEqual([
    "create pods 201",
    "create events 201",
    // The launcher is ready: the Pod's readiness gate opens, and the Pod names its node.
    "patch pods/status 200",
    // Scheduled, with the grant and everything that is known about the Pod.
    "patch virtualmachineinstances 200",
    // The guest runs and its Pod is ready: Ready.
    "patch virtualmachineinstances 200",
  ]);
  // The API server decides who may run, not a cache.
  const look = ["get virtualmachineinstances", "list pods"];
  // Before the first grant, a VM of its name may remember an earlier guest, although this VMI is not the VM's.
  expect(reads.splice(0)).toEqual([look[0], "get virtualmachines", look[1]]);

  await user.delete(vmis, name);
  await cluster.clock.pass(60_000);
  expect((await user.list(vmis)).items).toEqual([]);
  expect((await user.list(podResource)).items).toEqual([]);
  expect(world.writes("controller").slice(5)).toEqual([
    "delete pods 200",
    "create events 201",
    // The end is proven: the Pod's finalizer, then the VMI's.
    "patch pods 200",
    "patch virtualmachineinstances 200",
  ]);
  // What has run may have ended with its node.
  expect(reads).toEqual([...look, "get nodes", ...look, "get nodes", ...look]);
});

test("a restarted or standby process writes nothing to VMIs and Pods that are as they should be", async () => {
  await using world = await serviceWorld();
  const { cluster } = world;
  const stop = world.startControllers("first");
  await cluster.clock.pass(5_000);
  await running(world);
  await stop();
  const before = world.writes("first").length;
  world.startControllers("second");
  world.startControllers("third");
  await cluster.clock.pass(600_000);
  expect(world.writes("first")).toHaveLength(before);
  expect([...world.writes("second"), ...world.writes("third")]).toEqual([]);
});

test("one of two processes leads, and the other takes over its unfinished work", async () => {
  await using world = await serviceWorld();
  const { cluster } = world;
  const election = { namespace: "default", name: "virt-controller" };
  const stopFirst = world.startControllers("first", { election });
  await cluster.clock.pass(5_000);
  world.startControllers("second", { election });
  await cluster.client("user").create(vmis, admittedVmi("vm"));
  await cluster.clock.pass(100);
  const own = (actor: string) => world.writes(actor).filter((write) => !write.includes("leases"));
  expect([own("first").length, own("second")]).toEqual([2, []]);
  await stopFirst();
  await cluster.clock.pass(60_000);
  expect(await cluster.client("user").get(vmis, name)).toMatchObject({
    status: { phase: "Running" },
  });
  expect(own("second")).toHaveLength(3);
});
