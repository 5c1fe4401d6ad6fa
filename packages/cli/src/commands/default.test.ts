import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { runVirtkit } from "../testing/run-virtkit.ts";

const vmi = `apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: web}
spec: {domain: {devices: {}, memory: {guest: 1024Mi}}}
`;
const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";

test("prints objects with their defaults, and others unchanged", async () => {
  const { code, out, err } = await runVirtkit(["default", "-f", "-"], `${vmi}---\n${secret}`);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const [defaulted, other] = parseAllDocuments(out).map((document) => document.toJS());
  expect(defaulted).toMatchObject({
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

test("--config affects the defaults", async () => {
  const { code, err } = await runVirtkit(
    ["default", "-f", "-", "--config", "/does/not/exist"],
    vmi,
  );
  expect(code).toBe(1);
  expect(err).toContain("/does/not/exist");
});

test("prints refused objects with their place on stderr, and the rest on stdout", async () => {
  const bad = vmi.replace("guest: 1024Mi", "guest: 7x");
  const { code, out, err } = await runVirtkit(["default", "-f", "-"], `${secret}---\n${bad}`);
  expect(code).toBe(1);
  expect(parse(out)).toEqual(parse(secret));
  expect(err).toMatch(/^stdin:8:39: spec\.domain\.memory\.guest .*\n$/);
});

test("each fault has its own line and place", async () => {
  const bad = `${vmi.slice(0, vmi.indexOf("spec:"))}spec:
  evictionStrategy: 5
  domain:
    devices: {}
    memory: {guest: []}
`;
  const { code, out, err } = await runVirtkit(["default", "-f", "-"], bad);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err.trimEnd().split("\n").toSorted()).toEqual([
    expect.stringMatching(/^stdin:5:3: spec\.evictionStrategy /),
    expect.stringMatching(/^stdin:8:14: spec\.domain\.memory\.guest /),
  ]);
});

test("what cannot be decoded has its place, too", async () => {
  const bad = vmi.replace("guest: 1024Mi", "guest: 7x, maxGuest: 8y");
  const { err } = await runVirtkit(["default", "-f", "-"], bad);
  expect(err.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^stdin:4:39: spec\.domain\.memory\.guest /),
    expect.stringMatching(/^stdin:4:50: spec\.domain\.memory\.maxGuest /),
  ]);
});

test("drops unknown fields, as validate and the API server do", async () => {
  const text = vmi.replace("spec: {", "spec: {lunch: noon, ");
  const { code, out, err } = await runVirtkit(["default", "-f", "-"], text);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).not.toContain("lunch");
  expect((await runVirtkit(["validate", "-f", "-"], text)).code).toBe(0);
});

test("VMIs in lists get their defaults", async () => {
  const item = JSON.stringify(parse(vmi));
  const list = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","items":[${item}]}`;
  const { code, out } = await runVirtkit(["default", "-f", "-"], `[${item}, ${list}]`);
  expect(code).toBe(0);
  const phases = parseAllDocuments(out).map((document) => document.getIn(["status", "phase"]));
  expect(phases).toEqual(["Pending", "Pending"]);
});

test.each([
  ["just text\n", /^stdin:1:1: \(root\) must be an object .*the string "just text"\n$/],
  ["- 5\n", /^stdin:1:3: \(root\) must be an object .*the number 5\n$/],
  [vmi.replace("VirtualMachineInstance", "Virtualmachine"), /^stdin:2:1: kind .*"Virtualmachine"/],
  ["metadata: {name: x}\n", /^stdin:1:1: kind and apiVersion do not name a known object/],
])("refuses %j", async (text, words) => {
  const { code, out, err } = await runVirtkit(["default", "-f", "-"], text);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(words);
});

test("without a file there is nothing to do", async () => {
  expect((await runVirtkit(["default"])).code).toBe(2);
});
