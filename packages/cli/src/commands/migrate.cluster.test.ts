import { names } from "@virtkit/api/names";
import { defineResource, type HttpClient, type KubeObject } from "@virtkit/kube";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { clusterWithKinds, kubeconfig } from "../testing/cluster-with-kinds.ts";
import { runVirtkit } from "../testing/run-virtkit.ts";

const namespace = "migrate";
const { groups } = names();
const [version, group] = ["v1", groups.core];
const vmis = defineResource({
  ...{ group, version, plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
});
const migrations = defineResource({
  ...{ group, version, plural: "virtualmachineinstancemigrations" },
  kind: "VirtualMachineInstanceMigration",
});
const cluster = { version, namespaced: false };
const namespaces = defineResource({ ...cluster, plural: "namespaces", kind: "Namespace" });
let client: HttpClient;

beforeAll(async () => {
  client = await clusterWithKinds([vmis, migrations]);
  await client.create(namespaces, { metadata: { name: namespace } });
}, 60_000);

afterAll(() => client.close());

async function runningVmi(name: string): Promise<void> {
  const spec = { domain: { devices: {} } };
  const status = { phase: "Running", nodeName: "node-1" };
  await client.create(vmis, { metadata: { namespace, name }, spec, status } as KubeObject);
}

/** The migration that the command has created for a VMI, once it exists. */
async function migrationOf(vmi: string): Promise<KubeObject> {
  const of = ({ items }: { readonly items: readonly KubeObject[] }) =>
    items.find((each) => Object(each).spec.vmiName === vmi);
  return await vi.waitFor(
    async () => {
      const found = of(await client.list(migrations, { namespace }));
      if (!found) throw new Error("not yet");
      return found;
    },
    { timeout: 20_000 },
  );
}

/**
 * What controller and node agents write on the way, as a script; `seen` waits until the command shows a phase.
 */
async function play(
  vmi: string,
  state: object,
  phases: readonly string[],
  seen: (phase: string) => Promise<void> = async () => {},
): Promise<KubeObject> {
  const migration = await migrationOf(vmi);
  const { name = "", uid } = migration.metadata;
  const times: object[] = [];
  for (const phase of phases) {
    times.push({ phase, phaseTransitionTimestamp: "2026-01-01T00:00:00Z" });
    const migrationState = { migrationUid: uid, sourceNode: "node-1", ...state };
    const patch = { type: "merge", body: { status: { migrationState } } } as const;
    await client.patch(vmis, { namespace, name: vmi }, patch);
    const body = { status: { phase, phaseTransitionTimestamps: times } };
    const at = { namespace, name };
    await client.patch(migrations, at, { type: "merge", body }, { subresource: "status" });
    await seen(phase);
  }
  return migration;
}

const virtkit = (command: string, name: string, ...args: string[]) =>
  runVirtkit([command, name, "-n", namespace, "--kubeconfig", kubeconfig, ...args]);

test("moves a guest of a cluster, and a line shows how far it is", async () => {
  await runningVmi("web");
  let shown = "";
  const line: Readonly<Record<string, string>> = {
    PreparingTarget: "preparing the target",
    Running: "moving the guest",
  };
  const args = ["migrate", "web", "-n", namespace, "--kubeconfig", kubeconfig, "--watch"];
  const moving = runVirtkit(args, "", (text) => {
    shown = text;
  });
  await play(
    "web",
    { targetNode: "node-2" },
    ["PreparingTarget", "Running", "Succeeded"],
    (phase) => vi.waitFor(() => expect(shown).toContain(line[phase] ?? ""), { timeout: 20_000 }),
  );
  const { code, out, err } = await moving;
  expect([code, out]).toEqual([0, ""]);
  expect(err).toMatch(/^Moving migrate\/web to another node: virtkit-migrate-web-/);
  expect(err).toMatch(/\[#+\.+\] {3}6 % {2}preparing the target, node-1 to node-2, \d+\.\d s/);
  expect(err).toMatch(/10 % {2}moving the guest, node-1 to node-2/);
  expect(err).toContain("migrate/web: it moved from node-1 to node-2.\n");
});

test("if it fails, both name phase, side and reason", async () => {
  await runningVmi("db");
  const moving = virtkit("migrate", "db");
  const state = { targetNode: "node-2", failed: true, failureReason: "the disk is not there" };
  await play("db", state, ["PreparingTarget", "Failed"]);
  const { code, err } = await moving;
  const text = "the target gave up in phase PreparingTarget: the disk is not there";
  expect([code, err.includes(text)]).toEqual([1, true]);
  expect(err).not.toContain("%");
  const { out } = await virtkit("why", "db");
  expect(out).toMatch(/its last migration, virtkit-migrate-db-\w+: it did not move from node-1/);
  expect(out).toContain(text);
  const { out: json } = await virtkit("why", "db", "-o", "json");
  expect(JSON.parse(json)).toMatchObject({
    migration: { outcome: "failed", phase: "PreparingTarget", side: "the target" },
  });
});

test("an aborted move is deleted, and both commands say that the guest stayed", async () => {
  await runningVmi("mail");
  const none = await virtkit("migrate", "mail", "--abort");
  expect([none.code, none.err.includes("is not being moved")]).toEqual([2, true]);
  const moving = virtkit("migrate", "mail", "--watch");
  const { metadata } = await migrationOf("mail");
  const aborted = await virtkit("migrate", "mail", "--abort");
  expect([aborted.code, (await moving).code]).toEqual([0, 1]);
  expect(aborted.err).toContain(
    "migrate/mail: it was aborted, and the guest still runs where it was.",
  );
  const { items } = await client.list(migrations, { namespace });
  expect(items.map((each) => each.metadata.name)).not.toContain(metadata.name);
});

test("refuses options for guests of this host in a cluster, and a VMI that cannot be moved", async () => {
  const local = await virtkit("migrate", "web", "--bandwidth", "1M");
  expect([
    local.code,
    local.err.includes("--bandwidth works only for guests of this host"),
  ]).toEqual([2, true]);
  const nobody = await virtkit("migrate", "web", "--context", "mars");
  expect(nobody.err).toContain('no context "mars"');
});
