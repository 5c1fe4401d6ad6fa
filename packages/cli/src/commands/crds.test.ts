import { crds } from "@virtkit/api/crd";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { runVirtkit } from "../testing/run-virtkit.ts";

test("prints every definition as a YAML document, without anchors", async () => {
  const { code, out, err } = await runVirtkit(["crds"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const names = crds().map(({ metadata }) => metadata.name);
  expect([...out.matchAll(/^ {2}name: (\S+)$/gm)].map(([, name]) => name)).toEqual(names);
  expect(out.match(/^---$/gm)).toHaveLength(names.length - 1);
  expect(out).not.toMatch(/: [&*]a\d/);
});

test("prints YAML that reads back the same", async () => {
  const { out } = await runVirtkit(["crds", "vmpref", "MigrationPolicy"]);
  const wanted = crds().filter(({ spec }) =>
    ["VirtualMachinePreference", "MigrationPolicy"].includes(spec.names.kind),
  );
  expect(parseAllDocuments(out).map((document) => document.toJS())).toEqual(wanted);
});

test("prints a List as JSON", async () => {
  const { out } = await runVirtkit(["crds", "-o", "json"]);
  expect(JSON.parse(out)).toEqual({ apiVersion: "v1", kind: "List", items: crds() });
});

test("prints the kinds that are named, by any of their names", async () => {
  const { out } = await runVirtkit(["crds", "-o", "json", "vms", "KubeVirt", "migrationpolicies"]);
  const names = JSON.parse(out).items.map(
    (item: { spec: { names: { kind: string } } }) => item.spec.names.kind,
  );
  expect(names).toEqual(["VirtualMachine", "KubeVirt", "MigrationPolicy"]);
});

test("accepts another root for the API groups", async () => {
  const { out } = await runVirtkit(["crds", "-o", "json", "--group", "vm.example", "vmp"]);
  expect(JSON.parse(out).items[0].metadata.name).toBe(
    "virtualmachinepreferences.instancetype.vm.example",
  );
});

test.each([
  [["-o", "xml"], "-o xml: use one of yaml, json"],
  [["--group", "Not A Group"], "--group must be a domain name"],
  [["--wrong"], "--wrong"],
  [["pods"], 'there is no kind "pods"'],
])("refuses %j", async (args, message) => {
  const { code, out, err } = await runVirtkit(["crds", ...args]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(message);
});
