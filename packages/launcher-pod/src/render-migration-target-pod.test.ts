import { clusterConfig } from "@virtkit/api/config";
import type { KubeVirtConfiguration, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { lookupIn } from "./cluster-lookup.ts";
import { collectProvenance } from "./explain.ts";
import type { Pod } from "./pod/pod.ts";
import { type MigrationSource, renderMigrationTargetPod } from "./render-migration-target-pod.ts";
import { testProfile, testVmi, type VmiParts } from "./testing/render.ts";

const migration: VirtualMachineInstanceMigration = {
  metadata: { name: "m", namespace: "ns", uid: "uid-m" },
  spec: { vmiName: "guest", addedNodeSelector: { zone: "b", "kubernetes.io/arch": "x" } },
};
const labels = {
  "host-model-cpu.node.kubevirt.io/Skylake": "true",
  "cpu-vendor.node.kubevirt.io/Intel": "true",
};
const source: MigrationSource = { pod: {}, node: { metadata: { labels } } };
const parts: VmiParts = {
  spec: { architecture: "amd64" },
  domain: { cpu: { model: "host-model" } },
  status: { selinuxContext: "u:r:t:s0:c1" },
};

function target(
  configuration: KubeVirtConfiguration = {},
  from: MigrationSource = source,
  own: VirtualMachineInstanceMigration = migration,
  guest: VmiParts = parts,
): Pod {
  const config = clusterConfig(configuration);
  const options = { profile: testProfile };
  return renderMigrationTargetPod(testVmi(guest), own, from, config, lookupIn({}), options);
}

test("a target belongs to the migration, away from its source, with its CPU and its SELinux level", () => {
  const { metadata, spec } = target();
  expect(metadata.labels?.["kubevirt.io/migrationJobUID"]).toBe("uid-m");
  expect(metadata.annotations?.["kubevirt.io/migrationJobName"]).toBe("m");
  expect(spec.affinity?.podAntiAffinity).toBeDefined();
  expect(spec.securityContext?.seLinuxOptions).toEqual({ level: "s0:c1" });
  expect(spec.nodeSelector).toMatchObject({
    zone: "b",
    "kubernetes.io/arch": "amd64",
    "cpu-model-migration.node.kubevirt.io/Skylake": "true",
    "cpu-vendor.node.kubevirt.io/Intel": "true",
  });
});

test("a cluster may allow different levels", () => {
  const { spec } = target({ migrations: { matchSELinuxLevelOnMigration: false } });
  expect(spec.securityContext?.seLinuxOptions).toBeUndefined();
});

test("keeps a vendor that is already chosen", () => {
  const chosen = { "cpu-vendor.node.kubevirt.io/AMD": "true" };
  const guest = { ...parts, spec: { nodeSelector: chosen } };
  const selector = target({}, source, migration, guest).spec.nodeSelector;
  expect(selector).toMatchObject(chosen);
  expect(selector).not.toHaveProperty(["cpu-vendor.node.kubevirt.io/Intel"]);
});

test("from another cluster, uses what the source has sent", () => {
  const state = { node: "n1", selinuxContext: "u:r:t:s0:c9", nodeSelectors: labels };
  const guest = { ...parts, status: { migrationState: { sourceState: state } } };
  const received = { ...migration, spec: { ...migration.spec, receive: { migrationID: "x" } } };
  const { spec } = target({}, { pod: {} }, received, guest);
  expect(spec.securityContext?.seLinuxOptions).toEqual({ level: "s0:c9" });
  expect(spec.affinity?.podAntiAffinity).toBeUndefined();
  expect(spec.nodeSelector).toHaveProperty(["cpu-vendor.node.kubevirt.io/Intel"]);
});

test("fails without the source's node", () => {
  expect(() => target({}, { pod: {} })).toThrow(
    expect.objectContaining({ code: "LAUNCHER_POD_NOT_FOUND" }),
  );
});

test("interfaces keep their numbers, unless the cluster upgrades them", () => {
  const statuses = JSON.stringify([{ name: "ns/red", interface: "net1" }]);
  const annotations = { "k8s.v1.cni.cncf.io/network-status": statuses };
  const networks = [{ name: "red", multus: { networkName: "red" } }];
  const guest = {
    ...parts,
    spec: { networks },
    devices: { interfaces: [{ name: "red", bridge: {} }] },
  };
  const from = { ...source, pod: { metadata: { annotations } } };
  const requested = (disabledFeatureGates: string[]): unknown => {
    const pod = target(
      { developerConfiguration: { disabledFeatureGates } },
      from,
      migration,
      guest,
    );
    const text = pod.metadata.annotations?.["k8s.v1.cni.cncf.io/networks"] ?? "";
    return (JSON.parse(text) as { interface: string }[])[0]?.interface;
  };
  expect(requested(["PodSecondaryInterfaceNamingUpgrade"])).toBe("net1");
  expect(requested([])).toMatch(/^pod[0-9a-f]{11}$/);
});

test("explains what a migration adds", () => {
  const { explain, provenance } = collectProvenance();
  const options = { profile: testProfile, explain };
  renderMigrationTargetPod(
    testVmi(parts),
    migration,
    source,
    clusterConfig(),
    lookupIn({}),
    options,
  );
  const from = Object.fromEntries(provenance().map((note) => [note.part, note.from]));
  expect(from).toMatchObject({
    "spec.nodeSelector[zone]": "migration.spec.addedNodeSelector",
    "spec.nodeSelector[cpu-vendor.node.kubevirt.io/Intel]": "cluster.nodes[source]",
    "metadata.labels[kubevirt.io/migrationJobUID]": "migration.metadata.uid",
  });
});
