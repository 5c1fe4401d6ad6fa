import { expect, test } from "vitest";
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "../schema/index.ts";
import {
  type Change,
  type ClusterOptions,
  cluster,
  instance,
  overlay,
  shown,
} from "../testing/verdict.ts";
import type { AdmissionLookup } from "./admission-lookup.ts";
import { admit } from "./admit.ts";

const migration = (spec: Change = {}, rest: Change = {}): Record<string, unknown> =>
  overlay(
    { metadata: { name: "m", namespace: "here" }, spec: { vmiName: "vm" } },
    { ...rest, spec },
  );

const world = (vmi: Change | undefined = {}, others: readonly Change[] = []): AdmissionLookup => ({
  virtualMachineInstance: (namespace, name) =>
    vmi && namespace === "here" && name === "vm"
      ? (overlay(instance(), vmi) as unknown as VirtualMachineInstance)
      : undefined,
  migrationsOf: () => others as unknown as VirtualMachineInstanceMigration[],
});

interface Setting extends ClusterOptions {
  readonly lookup?: AdmissionLookup;
  readonly username?: string;
}

function create(object: unknown, { lookup = world(), username = "u", ...options }: Setting = {}) {
  const request = {
    kind: "VirtualMachineInstanceMigration",
    operation: "CREATE",
    object,
    username,
    namespace: "here",
  } as const;
  return admit(request, cluster(options), lookup);
}

const account = (name: string): string => `system:serviceaccount:kubevirt:kubevirt-${name}`;
const decentralised: ClusterOptions = { gates: ["DecentralizedLiveMigration"] };
const sendTo = { migrationID: "1", connectURL: "u" };
const receive = { migrationID: "1" };

test.each<[Change, Setting, string[]]>([
  [{}, {}, []],
  [{ addedNodeSelector: { a: "b" } }, {}, []],
  [{ vmiName: "" }, {}, ["Required spec.vmiName"]],
  [{ vmiName: undefined }, {}, ["Required spec.vmiName"]],
  [{ priority: "system-critical" }, {}, ["Forbidden spec.migrationPriority"]],
  [
    { priority: "system-critical" },
    { username: account("handler") },
    ["Forbidden spec.migrationPriority"],
  ],
  [{ priority: "system-critical" }, { username: account("controller") }, []],
  [{ sendTo }, {}, ["NotSupported"]],
  [{ receive }, {}, ["NotSupported"]],
  [{ sendTo, receive }, decentralised, []],
  [{ sendTo, receive: { migrationID: "2" } }, decentralised, ["Invalid"]],
  [{ surprise: 1 }, {}, ["schema"]],
])("%j %j: %j", (spec, setting, expected) => {
  const { causes } = create(migration(spec), setting);
  expect(causes.map(shown)).toEqual(expected);
});

const fixed = (reason: string): Change => ({
  status: { conditions: [{ type: "LiveMigratable", status: "False", reason, message: "m" }] },
});
const phase = (name: string): Change => ({ status: { phase: name } });

test.each<[string, Setting, Change, boolean]>([
  ["a VMI that does not exist", { lookup: world(undefined) }, { vmiName: "other" }, false],
  ["a VMI that has ended", { lookup: world(phase("Succeeded")) }, {}, false],
  ["a VMI that failed", { lookup: world(phase("Failed")) }, {}, false],
  ["a VMI that is starting", { lookup: world(phase("Scheduling")) }, {}, true],
  ["a VMI that cannot migrate", { lookup: world(fixed("DisksNotLiveMigratable")) }, {}, false],
  [
    "a VMI with local disks, to another cluster",
    { ...decentralised, lookup: world(fixed("DisksNotLiveMigratable")) },
    { sendTo },
    true,
  ],
  [
    "a VMI with a host device, to another cluster",
    { ...decentralised, lookup: world(fixed("HostDeviceNotLiveMigratable")) },
    { sendTo },
    false,
  ],
  ["a VMI that is already migrating", { lookup: world({}, [phase("Running")]) }, {}, false],
  ["a VMI that is about to migrate", { lookup: world({}, [{}]) }, {}, false],
  [
    "a VMI that has migrated",
    { lookup: world({}, [phase("Succeeded"), phase("Failed")]) },
    {},
    true,
  ],
])("migrating %s: %j", (_, setting, spec, allowed) => {
  const answer = create(migration(spec), setting);
  expect(answer.allowed).toBe(allowed);
  if (!answer.allowed) expect(answer).toMatchObject({ code: 400, causes: [] });
});

test("refuses a name that does not fit into the label", () => {
  const lookup = {
    ...world(),
    virtualMachineInstance: () => instance() as unknown as VirtualMachineInstance,
  };
  expect(create(migration({ vmiName: "x".repeat(64) }), { lookup })).toMatchObject({ code: 400 });
});

test("refuses an unreadable migration with 400, because KubeVirt decodes before it checks", () => {
  expect(create(migration({ vmiName: 7 }))).toMatchObject({ code: 400, causes: [] });
  expect(create(7)).toMatchObject({ code: 400 });
  const unread = { metadata: { creationTimestamp: "soon" } };
  expect(create(unread)).toMatchObject({ code: 400, causes: [] });
  const kind = "VirtualMachineInstanceMigration";
  const update = { kind, operation: "UPDATE", object: {}, oldObject: unread } as const;
  expect(admit(update, cluster())).toMatchObject({ code: 400, causes: [] });
});

const labelled = (value: string): Change => ({
  metadata: { labels: { "kubevirt.io/vmi-name": value } },
});

test.each<[string, Change, Change, string[]]>([
  ["nothing", labelled("vm"), {}, []],
  ["the spec", {}, { spec: { vmiName: "other" } }, ["NotSupported"]],
  ["the label", labelled("vm"), labelled("other"), ["NotSupported"]],
  [
    "the label by removing it",
    labelled("vm"),
    { metadata: { labels: undefined } },
    ["NotSupported"],
  ],
  [
    "the label after the migration has ended",
    labelled("vm"),
    { ...labelled("other"), ...phase("Failed") },
    [],
  ],
  ["a label that did not exist", {}, labelled("vm"), []],
])("changing %s: %j", (_, from, to, expected) => {
  const oldObject = overlay(migration(), from);
  const object = overlay(oldObject, to);
  const request = {
    kind: "VirtualMachineInstanceMigration",
    operation: "UPDATE",
    object,
    oldObject,
  } as const;
  const { causes } = admit(request, cluster());
  expect(causes.map(shown)).toEqual(expected);
});
