import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

const vmi = `apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: web, namespace: prod, uid: u1, creationTimestamp: "2026-01-01T10:00:00Z" }
spec: { domain: { devices: {} } }
status: { phase: Scheduling }
`;
const pods = `apiVersion: v1
kind: List
items:
  - kind: Pod
    metadata: { name: old, creationTimestamp: "2026-01-01T09:00:00Z", labels: { kubevirt.io/created-by: u1 } }
    status: { phase: Failed }
  - kind: Pod
    metadata: { name: new, creationTimestamp: "2026-01-01T10:00:01Z", labels: { kubevirt.io/created-by: u1 } }
    status:
      phase: Pending
      conditions:
        - { type: PodScheduled, status: "False", reason: Unschedulable, message: 0/3 nodes are available }
  - kind: Pod
    metadata: { name: other, creationTimestamp: "2026-01-01T11:00:00Z", labels: { kubevirt.io/created-by: u2 } }
`;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "virtkit-why-"));
  await writeFile(join(folder, "pods.yaml"), pods);
  await writeFile(join(folder, "trace.yaml"), "- { stage: network-bound, at: now }\n");
});
afterAll(() => rm(folder, { recursive: true }));

test("shows the stage that it waits for, and the reason, and then every stage", async () => {
  const { code, out } = await runVirtkit(["why", "-f", "-", "-f", join(folder, "pods.yaml")], vmi);
  expect(code).toBe(0);
  const [headline, , ...rows] = out.trimEnd().split("\n");
  expect(headline).toMatch(/^prod\/web: waits for "scheduled" .*: no node accepts the Pod/);
  expect(rows).toHaveLength(12);
  expect(rows[0]).toMatch(/^ {2}admitted +done +2026-01-01T10:00:00Z +api-server$/);
});

test("prints one JSON object for each VMI", async () => {
  const { code, out } = await runVirtkit(["why", "-f", "-", "-o", "json"], vmi);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    name: "web",
    open: { stage: "launcher-ready", state: "waiting" },
    handoffs: expect.arrayContaining([{ stage: "scheduled", state: "unknown", by: "scheduler" }]),
  });
});

test("says who may run the guest if the VMI has a run grant, and that nobody may if it is unreadable", async () => {
  const grant = { version: 1, state: "Granted", vmiUID: "u1", epoch: 1, seq: 1, podUID: "pod-7" };
  const granted = (value: string) =>
    vmi.replace("uid: u1,", `uid: u1, annotations: { virtkit.io/run-grant: '${value}' },`);
  const { out } = await runVirtkit(["why", "-f", "-"], granted(JSON.stringify(grant)));
  expect(out.split("\n")[1]).toMatch(
    /^Only Pod pod-7 may claim the guest; its node agent must claim it/,
  );
  const json = await runVirtkit(["why", "-f", "-", "-o", "json"], granted("{}"));
  expect(JSON.parse(json.out).grant).toMatch(/^Nobody may start the guest/);
});

test("a trace shows stages on the node", async () => {
  const args = ["why", "-f", "-", "--trace", join(folder, "trace.yaml"), "-o", "json"];
  const { out } = await runVirtkit(args, vmi.replace("Scheduling", "Scheduled"));
  expect(JSON.parse(out).handoffs[6]).toEqual({
    stage: "network-bound",
    state: "done",
    by: "node-agent",
    at: "now",
  });
});

test.each([
  ["prepared", "step disk/root of Pod p: /disk has more than one file"],
  ["network-bound", "step network of Pod p: there is no link eth0"],
  ["claimed", "process 7 of Pod q holds claim 1"],
  ["domain-defined", "unsupported machine type"],
  ["guest-running", "QEMU cannot allocate memory"],
] as const)("names the cause of a start that failed at %s", async (stage, message) => {
  const file = join(folder, "trace-failed.json");
  await writeFile(file, JSON.stringify([{ stage, state: "failed", message }]));
  const args = ["why", "-f", "-", "--trace", file];
  const { out } = await runVirtkit(args, vmi.replace("Scheduling", "Scheduled"));
  const [headline] = out.split("\n");
  expect(headline).toMatch(`prod/web: failed at "${stage}" `);
  expect(headline).toMatch(message);
});

test.each([
  ["just text", /trace-odd\.yaml:1:1: found the string "just text"; give a list of \{stage/],
  ["- { stage: network-bound }\n- 5\n", /:2:3: found the number 5; give/],
  ["- { stage: lunch }\n", /:1:5: stage is "lunch"; use one of admitted, /],
])("refuses a trace of %j with what to pass instead", async (trace, words) => {
  const file = join(folder, "trace-odd.yaml");
  await writeFile(file, trace);
  const { code, out, err } = await runVirtkit(["why", "-f", "-", "--trace", file], vmi);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(words);
});

test.each([
  ["{ name: 1, namespace: {} }", "(without a name): "],
  ["{ name: [a], namespace: ns }", "ns/(without a name): "],
  ["text", "(without a name): "],
])("metadata of %s gives a readable name", async (metadata, start) => {
  const text = `kind: VirtualMachineInstance\nmetadata: ${metadata}\n`;
  expect((await runVirtkit(["why", "-f", "-"], text)).out.slice(0, start.length)).toBe(start);
});

test.each([
  [["why"], "", 2, /-f/],
  [["why", "-f", "-", "-o", "xml"], vmi, 2, /text, json, yaml/],
  [["why", "-f", "-"], "kind: Pod\n", 1, /no VirtualMachine or VirtualMachineInstance/],
  [["why", "-f", "-"], "a: [\n", 1, /^stdin:/],
])("%j with %j exits %i and says why", async (args, stdin, code, words) => {
  const run = await runVirtkit(args, stdin);
  expect(run).toMatchObject({ code, out: "" });
  expect(run.err).toMatch(words);
});

test("for a VM it says why it is not started, and what waits for a restart", async () => {
  const vm = `apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: { name: web, namespace: prod, uid: v1 }
spec:
  runStrategy: Halted
  template: { spec: { terminationGracePeriodSeconds: 5, domain: { devices: {} } } }
status: { conditions: [{ type: RestartRequired, status: "True" }] }
`;
  const alone = await runVirtkit(["why", "-f", "-"], vm);
  expect(alone.out).toBe(
    "VM prod/web: stopped: spec.runStrategy is Halted: it does not run; set the strategy to Always, or start the VM\n",
  );
  const revision = `---
apiVersion: apps/v1
kind: ControllerRevision
metadata: { name: revision-start-vm-v1-1, namespace: prod }
data: { spec: { runStrategy: Halted, template: { spec: { domain: { devices: {} } } } } }
---
`;
  const started = vmi.replace(
    "status: {",
    "status: { virtualMachineRevisionName: revision-start-vm-v1-1,",
  );
  const both = await runVirtkit(["why", "-f", "-"], `${vm}${revision}${started}`);
  expect(both.out).toContain(
    "waiting for a restart: spec.template.spec.terminationGracePeriodSeconds\n",
  );
  expect(both.out).toContain("prod/web: waits for");
  const json = await runVirtkit(["why", "-f", "-", "-o", "json"], vm);
  expect(JSON.parse(json.out)).toMatchObject({ kind: "VirtualMachine", state: "stopped" });
  const restartReason = "sockets is 9, but the running guest supports at most 4";
  const explained = vm.replace('status: "True" }', `status: "True", message: "${restartReason}" }`);
  const said = await runVirtkit(["why", "-f", "-"], explained);
  expect(said.out).toContain(`\n  waiting for a restart: ${restartReason}\n`);
  const told = await runVirtkit(["why", "-f", "-", "-o", "json"], explained);
  expect(JSON.parse(told.out)).toMatchObject({ restart: [], restartReason });
});

const holder = (node: string) => ({
  ...{ podUID: `pod-${node}`, containerID: "c", node, machineID: "m", bootID: "b1", nonce: "n" },
});
const withGrant = (grant: object): string => {
  const value = JSON.stringify({ version: 1, vmiUID: "u1", epoch: 1, seq: 3, ...grant });
  const annotated = `uid: u1, annotations: { virtkit.io/run-grant: '${value}' },`;
  return vmi.replace("uid: u1,", annotated).replace("Scheduling", "Running");
};

test("for a guest whose node is lost it names the command that confirms that the node is off", async () => {
  const node = (name: string): string => `---
apiVersion: v1
kind: Node
metadata: { name: ${name} }
status: { conditions: [{ type: Ready, status: Unknown, message: Kubelet stopped posting }] }
`;
  const lost = withGrant({ state: "Claimed", holder: holder("n1") });
  const { out } = await runVirtkit(["why", "-f", "-"], `${lost}${node("n1")}${node("n2")}`);
  expect(out).toContain("node n1 is not ready: Kubelet stopped posting; guests that it may");
  expect(out).toContain('run "virtkit fence confirm n1"\n');
  expect(out).toContain("node n2 is not ready: Kubelet stopped posting\n");
});

test("for a guest in a broken post-copy it says what its source reports, and what to do", async () => {
  const sides = { holder: holder("n1"), target: holder("n2") };
  const moving = withGrant({ state: "Committed", migrationUID: "m1", ...sides });
  const others = `---
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstanceMigration
metadata: { name: mig, namespace: prod, uid: m1, creationTimestamp: "2026-01-01T10:01:00Z" }
spec: { vmiName: web }
status: { phase: Running }
---
apiVersion: v1
kind: Event
metadata: { name: web.1, namespace: prod }
involvedObject: { kind: VirtualMachineInstance, name: web, uid: u1 }
type: Warning
reason: Migrating
message: "Post-copy is broken, and is recovered as soon as possible: the target does not answer"
lastTimestamp: "2026-01-01T10:02:00Z"
`;
  const { out } = await runVirtkit(["why", "-f", "-"], `${moving}${others}`);
  expect(out).toMatch(
    /its last migration, mig: it is moving \(Running\), but its post-copy is broken: the source reported at 2026-01-01T10:02:00Z: the target does not answer\n {2}What to do: make sure that nodes n1 and n2 reach each other/,
  );
  const json = await runVirtkit(["why", "-f", "-", "-o", "json"], `${moving}${others}`);
  expect(JSON.parse(json.out).migration).toMatchObject({
    ...{ phase: "Running", side: "the source", postCopy: "broken" },
    reason: "the target does not answer",
  });
});
