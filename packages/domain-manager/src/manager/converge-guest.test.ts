import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { toXml } from "@virtkit/converter";
import { expect, test } from "vitest";
import { recordedCalls, type StubAnswer } from "../testing/recorded-calls.ts";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { labVmi, syncRequest } from "../testing/vmi-fixture.ts";
import { convergeGuest } from "./converge-guest.ts";
import type { GuestSession } from "./guest-session.ts";
import { wantedDomain } from "./wanted-domain.ts";

const identity = { namespace: "ns", name: "vm", vmiUid: "uid", podUid: "pod" };
const dom = { name: "ns_vm", uuid: "u", id: 1 };
const call = { signal: new AbortController().signal, uninterrupted: () => ({}) };
const withoutNetwork = { autoattachPodInterface: false };

/** Changes a running guest from one VMI's state to another's. */
async function converge(
  before: VirtualMachineInstance,
  after: VirtualMachineInstance,
  answers: Readonly<Record<string, () => StubAnswer>> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const { path, fill } = await temporaryDirectory();
  await fill(files);
  const own = names({ directories: { share: path } });
  const running = toXml(await wantedDomain({ names: own }, syncRequest(identity, before)));
  const xml = running.replace("<domain", '<domain id="1"');
  const { libvirt, calls } = recordedCalls({ domainGetXmlDesc: () => ({ xml }), ...answers });
  const session = { libvirt, names: own } as GuestSession;
  const pending = await convergeGuest(session, dom, syncRequest(identity, after), call);
  const done = calls.filter(([name]) => name !== "domainGetXmlDesc");
  return { pending, done };
}

const plain = labVmi(identity, { domain: { devices: withoutNetwork } });

function withVolume(disk: object): VirtualMachineInstance {
  const vmi = labVmi(identity, {
    domain: { devices: { ...withoutNetwork, disks: [{ name: "data", ...disk }] } },
    volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data", hotpluggable: true } }],
  });
  const volumeStatus = [{ name: "data", target: "", hotplugVolume: {}, phase: "Ready" }];
  return { ...vmi, status: { volumeStatus } } as unknown as VirtualMachineInstance;
}

const onScsi = withVolume({ disk: { bus: "scsi" } });
const image = { "hotplug-disks/data.img": "x" };

test("equal guests need nothing", async () => {
  expect(await converge(plain, plain)).toEqual({ pending: [], done: [] });
});

test("attaches a disk once its image exists", async () => {
  const waiting = await converge(plain, onScsi);
  expect(waiting.pending).toMatchObject([{ effect: "retry" }]);
  expect(waiting.done).toEqual([]);
  const { pending, done } = await converge(plain, onScsi, {}, image);
  expect(pending).toEqual([]);
  expect(done).toMatchObject([
    ["domainAttachDevice", { xml: expect.stringContaining("/hotplug-disks/data.img") }],
  ]);
});

test("leaves a device that the guest does not release for the next sync", async () => {
  const message = "Device scsi0 is already in the process of unplug";
  const refused = { domainDetachDevice: () => ({ error: [1, message] as const }) };
  const { pending } = await converge(onScsi, plain, refused, image);
  expect(pending).toMatchObject([{ effect: "retry", summary: expect.stringMatching(/^detach/) }]);
  const broken = { domainDetachDevice: () => ({ error: [1, "internal error"] as const }) };
  await expect(converge(onScsi, plain, broken, image)).rejects.toThrow("internal error");
});

test("an interface without its network in the Pod waits, and holds up nothing else", async () => {
  const more = labVmi(identity, {
    domain: {
      devices: {
        interfaces: [
          { name: "default", masquerade: {} },
          { name: "blue", bridge: {} },
        ],
      },
    },
    networks: [
      { name: "default", pod: {} },
      { name: "blue", multus: { networkName: "blue" } },
    ],
  });
  const one = labVmi(identity, {
    domain: { devices: { interfaces: [{ name: "default", masquerade: {} }] } },
    networks: [{ name: "default", pod: {} }],
  });
  const { pending, done } = await converge(one, more);
  expect(done).toEqual([]);
  expect(pending).toEqual([
    {
      effect: "needs-migration",
      summary: 'attach the interface "blue"',
      reason: "the Pod has no link for its network",
    },
  ]);
});

test("lists what needs a restart with the reason, and does not do it", async () => {
  const other = structuredClone(plain);
  other.spec.domain.devices = { ...withoutNetwork, watchdog: { name: "w", i6300esb: {} } };
  const { pending, done } = await converge(plain, other);
  expect(done).toEqual([]);
  expect(pending).toMatchObject([{ effect: "needs-restart", reason: expect.any(String) }]);
});
