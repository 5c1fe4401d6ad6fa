import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { runVirtkit } from "../testing/run-virtkit.ts";

const vmi = `apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: web}
spec: {domain: {devices: {}, memory: {guest: 1024Mi}}}
`;
const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";

test("objects come out with their defaults, others as they are", async () => {
  const { code, out, err } = await runVirtkit(["default", "-f", "-"], `${vmi}---\n${secret}`);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [machine, other] = parseAllDocuments(out).map((document) => document.toJS());
  expect(machine).toMatchObject({
    kind: "VirtualMachineInstance",
    spec: { architecture: "amd64", domain: { memory: { guest: "1Gi" }, machine: { type: "q35" } } },
    status: { phase: "Pending" },
  });
  expect(other).toEqual(parse(secret));
});

test("--patch prints what would be sent to the API server", async () => {
  const { out } = await runVirtkit(["default", "--patch", "-o", "json", "-f", "-"], vmi);
  expect(JSON.parse(out)).toMatchObject([
    { path: "/spec" },
    { path: "/metadata" },
    { path: "/status" },
  ]);
});

test("--config has a say", async () => {
  const { code, err } = await runVirtkit(
    ["default", "-f", "-", "--config", "/does/not/exist"],
    vmi,
  );
  expect(code).toBe(1);
  expect(err).toContain("/does/not/exist");
});

test("what is refused goes to stderr with its place, and the rest is printed", async () => {
  const bad = vmi.replace("guest: 1024Mi", "guest: 7x");
  const { code, out, err } = await runVirtkit(["default", "-f", "-"], `${secret}---\n${bad}`);
  expect(code).toBe(1);
  expect(parse(out)).toEqual(parse(secret));
  expect(err).toMatch(/^stdin:5:1: spec\.domain\.memory\.guest /);
});

test("without a file there is nothing to do", async () => {
  expect((await runVirtkit(["default"])).code).toBe(2);
});
