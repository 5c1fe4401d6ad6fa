import { expect, test } from "vitest";
import {
  type Change,
  type ClusterOptions,
  cluster,
  instance,
  overlay,
  shown,
} from "../testing/verdict.ts";
import { admit } from "./admit.ts";

const account = (name: string): string => `system:serviceaccount:kubevirt:kubevirt-${name}`;
const user = "system:serviceaccount:here:user";

interface Update extends ClusterOptions {
  readonly from?: Change;
  readonly to?: Change;
  readonly by?: string;
  readonly node?: string;
}

/** What admission answers to a change of a running VMI. */
function update({
  from = {},
  to = {},
  by = account("controller"),
  node,
  ...options
}: Update): string[] {
  const oldObject = overlay(instance(), from);
  const request = {
    kind: "VirtualMachineInstance",
    operation: "UPDATE",
    oldObject,
    object: overlay(oldObject, to),
    username: by,
    ...(node ? { userExtra: { "authentication.kubernetes.io/node-name": [node] } } : {}),
  } as const;
  const { allowed, causes } = admit(request, cluster(options));
  expect(allowed).toBe(causes.length === 0);
  return causes.map(shown);
}

const onNode = (nodeName: string, targetNode?: string): Change => ({
  status: { nodeName, ...(targetNode ? { migrationState: { targetNode } } : {}) },
});
const handler = account("handler");

test.each<[string, Update, string[]]>([
  ["its own VMI", { from: onNode("a"), by: handler, node: "a" }, []],
  ["a VMI that migrates to it", { from: onNode("b", "a"), by: handler, node: "a" }, []],
  ["another node's VMI", { from: onNode("b"), by: handler, node: "a" }, ["Invalid"]],
  ["a VMI without naming its own node", { from: onNode("a"), by: handler }, ["Invalid"]],
  [
    "the target of a VMI",
    { from: onNode("a"), to: onNode("a", "c"), by: handler, node: "a" },
    ["Invalid"],
  ],
  [
    "anything, with the gate off",
    { from: onNode("b"), by: handler, disabled: ["NodeRestriction"] },
    [],
  ],
])("a node's agent changes %s", (_, change, expected) => {
  expect(update(change)).toEqual(expected);
});

test.each<[string, Update, string[]]>([
  ["nothing", { by: user }, []],
  [
    "the spelling of an amount",
    { to: { spec: { domain: { memory: { guest: "1024Mi" } } } }, by: user },
    [],
  ],
  ["the spec", { to: { spec: { hostname: "x" } }, by: user }, ["NotSupported"]],
  ["a label", { to: { metadata: { labels: { a: "b" } } }, by: user }, []],
  [
    "a reserved label",
    { to: { metadata: { labels: { "kubevirt.io/nodeName": "b" } } }, by: user },
    ["NotSupported"],
  ],
  [
    "a reserved label by removing it",
    {
      from: { metadata: { labels: { "kubevirt.io/nodeName": "b" } } },
      to: { metadata: { labels: undefined } },
      by: user,
    },
    ["NotSupported"],
  ],
])("a user changes %s", (_, change, expected) => {
  expect(update(change)).toEqual(expected);
});

const spec = (change: Change): Change => ({ spec: { domain: change } });

test.each<[string, Update, string[]]>([
  [
    "sockets",
    { from: spec({ cpu: { sockets: 1, maxSockets: 4 } }), to: spec({ cpu: { sockets: 2 } }) },
    [],
  ],
  [
    "maxSockets",
    { from: spec({ cpu: { maxSockets: 4 } }), to: spec({ cpu: { maxSockets: 8 } }) },
    ["Invalid"],
  ],
  ["guest memory", { to: spec({ memory: { guest: "2Gi" } }) }, []],
  [
    "maxGuest",
    { from: spec({ memory: { maxGuest: "4Gi" } }), to: spec({ memory: { maxGuest: "8Gi" } }) },
    ["Invalid"],
  ],
  [
    "the spelling of maxGuest",
    {
      from: spec({ memory: { maxGuest: "4Gi" } }),
      to: { spec: { domain: { memory: { maxGuest: "4096Mi" } }, hostname: "x" } },
    },
    [],
  ],
  ["a reserved label", { to: { metadata: { labels: { "kubevirt.io/nodeName": "b" } } } }, []],
])("KubeVirt changes %s", (_, change, expected) => {
  expect(update(change)).toEqual(expected);
});

const root = { name: "root", containerDisk: { image: "registry/image:v1" } };
const rootDisk = { name: "root", disk: { bus: "virtio" } };
const claim = (name: string, claimName = "c"): Change => ({
  name,
  persistentVolumeClaim: { claimName },
});
const scsi = (name: string, rest: Change = {}): Change => ({
  name,
  disk: { bus: "scsi" },
  ...rest,
});
const storage = (
  volumes: readonly unknown[],
  disks: readonly unknown[],
  rest: Change = {},
): Change => ({
  ...rest,
  spec: { volumes, domain: { devices: { disks } } },
});
/** A VMI that started with `root`, and into which `hp` was plugged. */
const running: Change = {
  status: {
    volumeStatus: [
      { name: "root", target: "vda" },
      { name: "hp", target: "sda", hotplugVolume: {} },
    ],
  },
};
const plugged = storage([root, claim("hp")], [rootDisk, scsi("hp")], running);
const migrated = (name: string): Change => ({
  status: { ...(running["status"] as Change), migratedVolumes: [{ volumeName: name }] },
});

test.each<[string, Update, string[]]>([
  ["plugged in", { from: running, to: storage([root, claim("hp")], [rootDisk, scsi("hp")]) }, []],
  ["unplugged", { from: plugged, to: storage([root], [rootDisk]) }, []],
  [
    "plugged in without a disk",
    { from: running, to: storage([root, claim("hp")], [rootDisk]) },
    ["Invalid"],
  ],
  [
    "plugged in with a disk of another name",
    { from: running, to: storage([root, claim("hp")], [rootDisk, scsi("x")]) },
    ["Invalid"],
  ],
  [
    "plugged in on sata",
    {
      from: running,
      to: storage([root, claim("hp")], [rootDisk, { name: "hp", disk: { bus: "sata" } }]),
    },
    ["Invalid"],
  ],
  [
    "plugged in as a lun on virtio",
    {
      from: running,
      to: storage([root, claim("hp")], [rootDisk, { name: "hp", lun: { bus: "virtio" } }]),
    },
    ["Invalid"],
  ],
  [
    "plugged in as a CD-ROM",
    {
      from: running,
      to: storage([root, claim("hp")], [rootDisk, { name: "hp", cdrom: { bus: "scsi" } }]),
    },
    ["Invalid"],
  ],
  [
    "plugged in with a thread on scsi",
    {
      from: running,
      to: storage([root, claim("hp")], [rootDisk, scsi("hp", { dedicatedIOThread: true })]),
    },
    ["Invalid"],
  ],
  [
    "plugged in to boot at 0",
    { from: running, to: storage([root, claim("hp")], [rootDisk, scsi("hp", { bootOrder: 0 })]) },
    ["Invalid spec.domain.devices.disks[1].bootOrder"],
  ],
  [
    "plugged in from an image",
    { from: running, to: storage([root, { ...root, name: "hp" }], [rootDisk, scsi("hp")]) },
    ["Invalid"],
  ],
  [
    "plugged in for a memory dump",
    {
      from: running,
      to: storage([root, { name: "hp", memoryDump: { claimName: "c" } }], [rootDisk]),
    },
    [],
  ],
  [
    "changed",
    { from: plugged, to: storage([root, claim("hp", "d")], [rootDisk, scsi("hp")]) },
    ["Invalid"],
  ],
  [
    "changed by a migration",
    {
      from: plugged,
      to: storage([root, claim("hp", "d")], [rootDisk, scsi("hp")], migrated("hp")),
    },
    [],
  ],
  [
    "changed in its disk",
    { from: plugged, to: storage([root, claim("hp")], [rootDisk, scsi("hp", { serial: "s" })]) },
    ["Invalid"],
  ],
  [
    "left without its disk",
    { from: plugged, to: storage([root, claim("hp")], [rootDisk, scsi("x")]) },
    ["Invalid"],
  ],
  ["permanent, and removed", { from: running, to: storage([], []) }, ["Invalid"]],
  [
    "permanent, and changed",
    { from: running, to: storage([claim("root")], [rootDisk]) },
    ["Invalid"],
  ],
  [
    "permanent, and moved by a migration",
    { from: running, to: storage([claim("root")], [rootDisk], migrated("root")) },
    [],
  ],
  [
    "permanent, and changed in its disk",
    { from: running, to: storage([root], [{ name: "root", disk: { bus: "scsi" } }]) },
    ["Invalid"],
  ],
])("a volume is %s", (_, change, expected) => {
  expect(update(change)).toEqual(expected);
});

test("a CD-ROM may be emptied if disks can be without a volume", () => {
  const from = storage(
    [root, claim("cd")],
    [rootDisk, { name: "cd", cdrom: { bus: "sata" } }],
    running,
  );
  const to = storage([root], [rootDisk, { name: "cd", cdrom: { bus: "sata" } }]);
  expect(update({ from, to })).toEqual([]);
  expect(update({ from, to, disabled: ["DeclarativeHotplugVolumes"] })).toEqual(["Invalid"]);
});

const utility = (...utilityVolumes: Change[]): Change => ({ spec: { utilityVolumes } });
const dump = (name: string, claimName = "c"): Change => ({ name, claimName, type: "MemoryDump" });
const at = "spec.utilityVolumes";

test.each<[string, Update, string[]]>([
  ["added", { to: utility(dump("u")) }, []],
  ["added without the gate", { to: utility(dump("u")), gates: [] }, [`Invalid ${at}`]],
  ["added without a name", { to: utility(dump("")) }, [`Required ${at}[0].name`]],
  ["added without a claim", { to: utility(dump("u", "")) }, [`Required ${at}[0].claimName`]],
  ["added twice", { to: utility(dump("u"), dump("u")) }, [`Duplicate ${at}[1].name`]],
  ["added under the name of a volume", { to: utility(dump("root")) }, [`Duplicate ${at}[0].name`]],
  [
    "added under the name of a permanent volume",
    { from: { status: { volumeStatus: [{ name: "u", target: "" }] } }, to: utility(dump("u")) },
    ["Invalid"],
  ],
  ["changed", { from: utility(dump("u")), to: utility(dump("u", "d")) }, ["Invalid"]],
  ["removed", { from: utility(dump("u")), to: { spec: { utilityVolumes: undefined } } }, []],
])("a utility volume is %s", (_, change, expected) => {
  expect(update({ gates: ["UtilityVolumes"], ...change })).toEqual(expected);
});

test("refuses an unreadable stored object", () => {
  const request = {
    kind: "VirtualMachineInstance",
    operation: "UPDATE",
    object: instance(),
  } as const;
  for (const oldObject of [undefined, null, 7, { spec: 7 }, []]) {
    expect(admit({ ...request, oldObject }, cluster())).toMatchObject({
      allowed: false,
      code: 400,
    });
  }
});
