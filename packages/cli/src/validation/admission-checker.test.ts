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

test("a VMI that is short of nothing but defaults is fine", async () => {
  const { code, out } = await validate(vm("domain:\n  devices: {}\n  memory: {guest: 1Gi}"));
  expect({ code, out }).toEqual({ code: 0, out: "" });
});

test("what the webhooks would refuse is found, each at its place", async () => {
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

test("--schema-only leaves the rules out", async () => {
  expect((await validate(vm("hostname: Web\ndomain: {devices: {}}"), "--schema-only")).code).toBe(
    0,
  );
});

test("unknown fields do not keep the rules from running", async () => {
  const { out } = await validate(vm("hostname: Web\nsurprise: 1\ndomain: {devices: {}}"));
  expect(out).toContain("spec.template.spec.hostname");
});

test("a migration is judged without knowing the cluster", async () => {
  const migration = (spec: string): string =>
    `apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstanceMigration\nmetadata: {name: m}\nspec: ${spec}\n`;
  expect((await validate(migration("{vmiName: web}"))).code).toBe(0);
  expect((await validate(migration("{vmiName: ''}"))).code).toBe(1);
});

test("a policy is judged too", async () => {
  const { code, out } = await validate(
    "apiVersion: migrations.kubevirt.io/v1alpha1\nkind: MigrationPolicy\nmetadata: {name: p}\nspec: {selectors: {}, bandwidthPerMigration: -1Mi}\n",
  );
  expect(code).toBe(1);
  expect(out).toContain("spec.bandwidthPerMigration");
});
