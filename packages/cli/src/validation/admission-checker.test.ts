import { expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

const validate = (text: string, ...args: string[]) =>
  runVirtkit(["validate", ...args, "-f", "-"], text);

const vm = (template: string): string => `apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web}
spec:
  runStrategy: Always
  template:
    spec:
${template.replace(/^/gm, "      ")}
`;

test("accepts a VMI that only lacks defaults", async () => {
  const { code, out } = await validate(vm("domain:\n  devices: {}\n  memory: {guest: 1Gi}"));
  expect({ code, out }).toEqual({ code: 0, out: "" });
});

test("finds what the webhooks would refuse, each at its place", async () => {
  const { code, out } = await validate(
    vm(
      "hostname: Web\ndnsConfig:\n  nameservers: [one]\ndomain:\n  devices:\n    disks:\n    - name: root\n      disk: {bus: ide}",
    ),
  );
  expect(code).toBe(1);
  expect(out.split("\n").map((line) => line.split(": ", 1)[0])).toEqual([
    "stdin:8:7",
    "stdin:10:9",
    "stdin:14:13",
    "stdin:15:20",
    "",
  ]);
});

test("finds names and labels that the API server refuses before it asks a webhook", async () => {
  const { code, out } = await validate(
    "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata:\n  name: Bad_Name\n  labels: {tier: a b}\nspec:\n  domain: {devices: {}, memory: {guest: 1Gi}, cpu: {cores: many}}\n",
  );
  expect(code).toBe(1);
  expect(out.split("\n").map((line) => line.split(" ").slice(0, 3).join(" "))).toEqual([
    "stdin:4:3: VirtualMachineInstance/Bad_Name: metadata.name",
    "stdin:5:12: VirtualMachineInstance/Bad_Name: metadata.labels.tier",
    "stdin:7:53: VirtualMachineInstance/Bad_Name: spec.domain.cpu.cores",
    "",
  ]);
});

test.each([
  [
    "VirtualMachineInstanceReplicaSet",
    "kubevirt.io/v1",
    "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, spec: {hostname: Web, domain: {devices: {}, memory: {guest: 1Gi}}}}",
    ["spec.selector", "spec.template.spec.hostname"],
  ],
  [
    "VirtualMachinePool",
    "pool.kubevirt.io/v1beta1",
    "selector: {matchLabels: {a: b}}, virtualMachineTemplate: {metadata: {labels: {a: b}}, spec: {runStrategy: Sometimes, template: {spec: {hostname: Web, domain: {devices: {}, memory: {guest: 1Gi}}}}}}",
    [
      "spec.virtualMachineTemplate.spec.runStrategy",
      "spec.virtualMachineTemplate.spec.template.spec.hostname",
    ],
  ],
  [
    "VirtualMachineInstancetype",
    "instancetype.kubevirt.io/v1beta1",
    "cpu: {guest: 2}, memory: {guest: 2Gi, hugepages: {pageSize: 2Mi}, overcommitPercent: 50}",
    ["spec.memory.overcommitPercent"],
  ],
  [
    "MigrationPolicy",
    "migrations.kubevirt.io/v1alpha1",
    "selectors: {}, completionTimeoutPerGiB: -1",
    ["spec.completionTimeoutPerGiB"],
  ],
])("finds what the webhook for %s would refuse", async (kind, apiVersion, spec, expected) => {
  const text = `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\nspec: {${spec}}\n`;
  const { out } = await validate(text);
  const fields = out.split("\n").map((line) => line.split(" ")[2]);
  expect(fields.filter(Boolean).toSorted()).toEqual(expected);
});

test("--schema-only leaves the rules out", async () => {
  expect((await validate(vm("hostname: Web\ndomain: {devices: {}}"), "--schema-only")).code).toBe(
    0,
  );
});

test("unknown fields do not prevent the rules from running", async () => {
  const { out } = await validate(vm("hostname: Web\nsurprise: 1\ndomain: {devices: {}}"));
  expect(out).toContain("spec.template.spec.hostname");
});

test("faults of the schema do not hide rules that do not depend on them", async () => {
  const { out } = await validate(
    vm(
      "hostname: Web\nterminationGracePeriodSeconds: soon\ndomain:\n  cpu: {cores: many}\n  memory: {guest: 1Gi}\n  devices:\n    disks:\n    - {name: 5, disk: {}}\nvolumes:\n- {name: root}",
    ),
  );
  expect(out.split("\n").map((line) => line.split(" ")[2])).toEqual([
    "spec.template.spec.hostname",
    "spec.template.spec.terminationGracePeriodSeconds",
    "spec.template.spec.domain.cpu.cores",
    "spec.template.spec.domain.devices.disks[0].name",
    // It does not report that no disk is called root: the one above may be.
    "spec.template.spec.volumes[0]",
    undefined,
  ]);
});

test("--strict: unknown fields do not hide rules", async () => {
  const { out } = await validate(
    vm("hostname: Web\nsurprise: 1\ndomain: {devices: {}}"),
    "--strict",
  );
  expect(out).toContain("spec.template.spec.surprise");
  expect(out).toContain("spec.template.spec.hostname");
});

test("one group of rules does not hide the next", async () => {
  const { out } = await validate(
    vm(
      "hostname: Web\ndomain:\n  memory: {guest: 1Gi}\n  devices:\n    interfaces:\n    - {name: default, slirp: {}}\nnetworks:\n- {name: default, pod: {}}",
    ),
  );
  expect(out).toContain("slirp");
  expect(out).toContain("spec.template.spec.hostname");
});

test("judges a migration without knowing the cluster", async () => {
  const migration = (spec: string): string =>
    `apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstanceMigration\nmetadata: {name: m}\nspec: ${spec}\n`;
  expect((await validate(migration("{vmiName: web}"))).code).toBe(0);
  expect((await validate(migration("{vmiName: ''}"))).code).toBe(1);
});

test("judges a policy, too", async () => {
  const { code, out } = await validate(
    "apiVersion: migrations.kubevirt.io/v1alpha1\nkind: MigrationPolicy\nmetadata: {name: p}\nspec: {selectors: {}, bandwidthPerMigration: -1Mi}\n",
  );
  expect(code).toBe(1);
  expect(out).toContain("spec.bandwidthPerMigration");
});
