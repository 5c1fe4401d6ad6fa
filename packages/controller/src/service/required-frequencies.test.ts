import { names } from "@virtkit/api/names";
import { at } from "@virtkit/api/shape";
import { expect, test } from "vitest";
import { nodeResource, vmiResource } from "../plan/resources.ts";
import { serviceWorld } from "../testing/service-world.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";

const vmis = vmiResource(names());
const { cpuTimer, tscFrequency } = names().nodeLabels;

test("a guest with an invariant TSC is scheduled, and its frequency is offered while it is there", async () => {
  await using world = await serviceWorld({ nodes: ["node-1", "node-2"] });
  const { cluster } = world;
  const user = cluster.client("user");
  const say = async (name: string, frequency: string): Promise<void> => {
    const labels = {
      [`${cpuTimer}tsc-frequency`]: frequency,
      [`${cpuTimer}tsc-scalable`]: "true",
      [`cpu-feature.node.kubevirt.io/invtsc`]: "true",
    };
    await user.patch(nodeResource, { name }, { type: "merge", body: { metadata: { labels } } });
  };
  const offers = async (name: string): Promise<readonly string[]> => {
    const { metadata } = await user.get(nodeResource, { name });
    return Object.keys(metadata.labels ?? {})
      .filter((key) => key.startsWith(tscFrequency))
      .map((key) => key.slice(tscFrequency.length))
      .toSorted();
  };
  await say("node-1", "2500000000");
  world.startControllers("controller");
  await cluster.clock.pass(5_000);
  const cpu = { model: "host-model", features: [{ name: "invtsc", policy: "require" }] };
  const spec = { domain: { cpu, devices: { logSerialConsole: false }, memory: { guest: "64Mi" } } };
  await user.create(vmis, admittedVmi("vm", { spec }));
  await cluster.clock.pass(30_000);
  const vmi = await user.get(vmis, { namespace: "default", name: "vm" });
  expect([at(vmi, "status", "phase"), at(vmi, "status", "nodeName")]).toEqual([
    "Running",
    "node-1",
  ]);
  // The next guest gets a lower one, and this one keeps its own.
  await say("node-2", "2000000000");
  await cluster.clock.pass(120_000);
  expect(await offers("node-1")).toEqual(["2000000000", "2500000000"]);
  expect(await offers("node-2")).toEqual(["2000000000"]);
  await user.delete(vmis, { namespace: "default", name: "vm" });
  await cluster.clock.pass(120_000);
  expect(await offers("node-1")).toEqual(["2000000000"]);
  const before = world.writes("controller").length;
  await cluster.clock.pass(600_000);
  expect(world.writes("controller")).toHaveLength(before);
});
