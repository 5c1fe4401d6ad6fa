import { clusterConfig } from "@virtkit/api/config";
import { names as namesOf } from "@virtkit/api/names";
import type { KubeVirtConfiguration } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { podResource } from "../plan/resources.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { type ServiceWorld, serviceWorld, worldConfig } from "../testing/service-world.ts";
import type { ControllerPartMaker } from "./controller-part.ts";
import { namespaceResource } from "./shared-resources.ts";
import { admittedVmi } from "./testing/admit-vmi.ts";
import { vmPart } from "./vm-part.ts";
import { vmiPart } from "./vmi-part.ts";

const names = namesOf();
const { vms, vmis, kubevirts } = vmResources(names);
const platform = { namespace: "default", name: "kubevirt" };
const skip = { [names.annotations.skipBackupHooks]: "true" };

/** Controllers whose configuration is read two seconds after the KubeVirt object has changed. */
class ConfiguredWorld {
  readonly world: ServiceWorld;
  passes = 0;
  #config = worldConfig;

  constructor(world: ServiceWorld, parts: readonly ControllerPartMaker[]) {
    this.world = world;
    const metrics = {
      count: (metric: string) => {
        if (metric === "kube_reconciles") this.passes++;
      },
      observe: () => {},
    };
    world.startControllers("controller", { parts, metrics, config: () => this.#config });
  }

  get user() {
    return this.world.cluster.client("user");
  }

  async configure(
    configuration: KubeVirtConfiguration,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const body = { metadata: { annotations }, spec: { configuration } };
    await this.user.patch(kubevirts, platform, { type: "merge", body });
    await this.world.cluster.clock.pass(2_000);
    const source = { metadata: { annotations }, spec: { configuration } };
    this.#config = { ...worldConfig, cluster: clusterConfig(source) };
    await this.world.cluster.clock.pass(10_000);
  }

  async trackingOf(name: string): Promise<unknown> {
    const vm = await this.user.get(vms, { namespace: "default", name });
    return at(vm, "status", "changedBlockTracking", "state");
  }
}

async function configured(
  world: ServiceWorld,
  parts: readonly ControllerPartMaker[],
): Promise<ConfiguredWorld> {
  await world.cluster
    .client("user")
    .create(kubevirts, { metadata: platform, spec: {} } as KubeObject);
  const started = new ConfiguredWorld(world, parts);
  await world.cluster.clock.pass(5_000);
  return started;
}

const developerConfiguration = { featureGates: ["IncrementalBackup"], useEmulation: true };

function halted(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  const { spec } = Object(admittedVmi(name)) as { spec: object };
  const template = { spec };
  return {
    metadata: { namespace: "default", name, labels },
    spec: { runStrategy: "Halted", template },
  } as KubeObject;
}

test("VMs follow the selectors of changed-block tracking, and the labels of their namespace", async () => {
  await using world = await serviceWorld();
  const there = await configured(world, [vmPart]);
  const { user } = there;
  await user.create(vms, halted("labelled", { track: "yes" }));
  await user.create(vms, halted("plain"));
  await world.cluster.clock.pass(5_000);
  const selector = { matchLabels: { track: "yes" } };
  const both = { virtualMachineLabelSelector: selector, namespaceLabelSelector: selector };
  await there.configure({ developerConfiguration, changedBlockTrackingLabelSelectors: both });
  expect([await there.trackingOf("labelled"), await there.trackingOf("plain")]).toEqual([
    "Initializing",
    undefined,
  ]);
  const body = { metadata: { labels: { track: "yes" } } };
  await user.patch(namespaceResource, { name: "default" }, { type: "merge", body });
  await world.cluster.clock.pass(5_000);
  expect(await there.trackingOf("plain")).toBe("Initializing");
});

test("Pods of guests lose and regain their backup hooks with the annotation of the KubeVirt object", async () => {
  await using world = await serviceWorld();
  const there = await configured(world, [vmiPart]);
  await there.user.create(vmis, admittedVmi("vm"));
  await world.cluster.clock.pass(30_000);
  const hooks = async (): Promise<number> => {
    const [pod] = (await there.user.list(podResource)).items;
    return Object.keys(pod?.metadata.annotations ?? {}).filter((key) => key.includes("velero"))
      .length;
  };
  expect(await hooks()).toBe(5);
  await there.configure({ developerConfiguration }, skip);
  expect(await hooks()).toBe(0);
  await there.configure(
    { developerConfiguration },
    { [names.annotations.skipBackupHooks]: "false" },
  );
  expect(await hooks()).toBe(5);
});

test("a change of what no plan for a VM or VMI reads wakes none of them", async () => {
  await using world = await serviceWorld();
  const there = await configured(world, [vmPart, vmiPart]);
  await there.user.create(vms, halted("vm"));
  await there.user.create(vmis, admittedVmi("alone"));
  await world.cluster.clock.pass(60_000);
  const before = there.passes;
  await there.configure({ migrations: { parallelMigrationsPerCluster: 9 } });
  const body = { metadata: { labels: { track: "yes" } } };
  await there.user.patch(namespaceResource, { name: "default" }, { type: "merge", body });
  await world.cluster.clock.pass(10_000);
  expect(there.passes).toBe(before);
});
