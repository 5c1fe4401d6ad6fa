import { type DomainChange, parseDomain } from "@virtkit/converter";
import { expect, test } from "vitest";
import { recordedCalls } from "../testing/recorded-calls.ts";
import { applyChange } from "./apply-change.ts";

const dom = { name: "ns_vm", uuid: "u", id: 1 };
const running = parseDomain("<domain type='kvm'><name>ns_vm</name><devices/></domain>");
const disk = {
  type: "file",
  device: "disk",
  source: { file: "/data.img" },
  target: { dev: "sda", bus: "scsi" },
};
const card = { type: "ethernet", mac: { address: "02:00:00:00:00:01" } };
const both = ["live", "config"];

/** libvirt's numbers of errors. */
const invalidArg = 8;
const deviceMissing = 99;

async function apply(change: object, answers: Parameters<typeof recordedCalls>[0] = {}) {
  const { libvirt, calls } = recordedCalls(answers);
  await applyChange({ libvirt, dom, running }, change as DomainChange, {});
  return calls.map(([name, { dom: _, ...args }]) => [name, args]);
}

test.each([
  [{ kind: "attach-disk", disk }, "domainAttachDevice", "<disk"],
  [{ kind: "detach-disk", disk }, "domainDetachDevice", "<disk"],
  [{ kind: "change-media", disk }, "domainUpdateDevice", "<disk"],
  [{ kind: "attach-interface", interface: card }, "domainAttachDevice", "<interface"],
  [{ kind: "detach-interface", interface: card }, "domainDetachDevice", "<interface"],
  [{ kind: "set-link-state", interface: card }, "domainUpdateDevice", "<interface"],
  [{ kind: "attach-host-device", hostDevice: { type: "pci" } }, "domainAttachDevice", "<hostdev"],
  [{ kind: "detach-host-device", hostDevice: { type: "pci" } }, "domainDetachDevice", "<hostdev"],
])("%j", async (change, procedure, xml) => {
  const device = { xml: expect.stringContaining(xml), flags: both };
  expect(await apply(change)).toEqual([[procedure, device]]);
});

test("sets sizes and counts in the guest's units", async () => {
  expect(await apply({ kind: "resize-disk", disk, bytes: 2 ** 30 })).toEqual([
    ["domainBlockResize", { disk: "sda", size: 2n ** 30n, flags: ["bytes"] }],
  ]);
  expect(await apply({ kind: "set-vcpus", from: 1, to: 2 })).toEqual([
    ["domainSetVcpus", { count: 2, flags: both }],
  ]);
});

test("removes a device that is only in the live or only in the kept domain, or in neither", async () => {
  const missing = (flags: unknown): object =>
    Array.isArray(flags) && flags.includes("config")
      ? { error: [deviceMissing, "device not found"] }
      : {};
  const change = { kind: "detach-disk", disk };
  const calls = await apply(change, { domainDetachDevice: ({ flags }) => missing(flags) });
  expect(calls.map(([, args]) => args)).toMatchObject([{ flags: both }, { flags: ["live"] }]);
  const gone = () => ({ error: [deviceMissing, "device not found"] as const });
  expect(await apply(change, { domainDetachDevice: gone })).toHaveLength(2);
  const other = () => ({ error: [38, "no memory"] as const });
  await expect(apply(change, { domainDetachDevice: other })).rejects.toThrow("no memory");
});

test("pins CPUs; one that is not plugged in gets its place for later", async () => {
  const cputune = {
    vcpupin: [
      { vcpu: 0, cpuset: "2" },
      { vcpu: 1, cpuset: "3" },
    ],
    emulatorpin: { cpuset: "0-1" },
    iothreadpin: [],
  };
  const calls = await apply(
    { kind: "pin-cpus", cputune },
    {
      domainPinVcpu: ({ vcpu, flags }) =>
        vcpu === 1 && String(flags).includes("live")
          ? { error: [invalidArg, "vcpu 1 is not present in live config"] }
          : {},
    },
  );
  expect(calls).toEqual([
    ["domainPinVcpu", { vcpu: 0, cpuMap: Uint8Array.of(4), flags: both }],
    ["domainPinVcpu", { vcpu: 1, cpuMap: Uint8Array.of(8), flags: both }],
    ["domainPinVcpu", { vcpu: 1, cpuMap: Uint8Array.of(8), flags: ["config"] }],
    ["domainPinEmulator", { cpuMap: Uint8Array.of(3), flags: both }],
  ]);
});

test("does not try what cannot be done while the guest runs", async () => {
  expect(await apply({ kind: "change-element", path: "os" })).toEqual([]);
  expect(await apply({ kind: "set-memory-limit", from: 1, to: 2 })).toEqual([]);
});
