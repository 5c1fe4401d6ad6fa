import { readSync, writeSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  type Namespace,
  runIn,
  stopNamespaceHelper,
} from "../namespaces/index.ts";
import type { OwnedFd } from "../owned-fd.ts";
import { shell, uniqueName } from "../testing/host-fixtures.ts";

const name = uniqueName("tap");
let namespace: Namespace;

beforeAll(async () => {
  namespace = await createNetworkNamespace(name);
});
afterAll(async () => {
  namespace.close();
  deleteNetworkNamespace(name);
  await stopNamespaceHelper();
});

const inside = async (script: string): Promise<string> =>
  (await shell(script, { join: [namespace] })).output;

const headerBytes = 12;
const guest = Buffer.from("02deadbeef01", "hex");

/** "Who has 10.9.9.1?", asked by 10.9.9.2. */
function arpRequest(): Buffer {
  const arp = Buffer.from("0001080006040001", "hex");
  const frame = [Buffer.alloc(6, 0xff), guest, Buffer.from("0806", "hex"), arp];
  const question = [guest, Buffer.from([10, 9, 9, 2]), Buffer.alloc(6), Buffer.from([10, 9, 9, 1])];
  return Buffer.concat([Buffer.alloc(headerBytes), ...frame, ...question]);
}

function readFrame(tap: OwnedFd): Buffer | undefined {
  const buffer = Buffer.alloc(2048);
  try {
    return buffer.subarray(0, readSync(tap.fd, buffer));
  } catch {
    return undefined;
  }
}

test("a TAP carries packets to the namespace's kernel and back", async () => {
  const { value, descriptors } = await runIn([namespace], "createTap", {
    name: "tap%d",
    persistent: false,
  });
  const [tap] = descriptors as [OwnedFd];
  await inside(`ip addr add 10.9.9.1/24 dev ${value.name} && ip link set ${value.name} up`);
  writeSync(tap.fd, arpRequest());
  const reply = await expect
    .poll(
      () => {
        for (let frame = readFrame(tap); frame; frame = readFrame(tap)) {
          const ethernet = frame.subarray(headerBytes);
          if (ethernet.subarray(0, 6).equals(guest)) return ethernet.toString("hex", 12, 22);
        }
        return undefined;
      },
      { timeout: 30_000 },
    )
    .toBe("08060001080006040002")
    .then(() => true);
  expect(reply).toBe(true);
  tap.close();
  expect(await inside("ls /sys/class/net; ip -o link")).not.toContain(`${value.name}:`);
});

test("a persistent multi-queue TAP has its owner, group and MTU, and stays", async () => {
  const spec = { name: "tapmq", owner: 107, group: 60_108, queues: 4, mtu: 1400 };
  const { descriptors } = await runIn([namespace], "createTap", spec);
  expect(descriptors).toHaveLength(4);
  for (const queue of descriptors) queue.close();
  const shown = await inside("ip -d link show tapmq");
  expect(shown).toContain("mtu 1400");
  expect(shown).toMatch(/vnet_hdr on multi_queue .* persist on user 107 group 60108/);
  await expect(runIn([namespace], "createTap", spec)).rejects.toMatchObject({ errno: "EBUSY" });
  await runIn([namespace], "removeTap", { name: "tapmq", queues: 4 });
  expect(await inside("ip -o link")).not.toContain("tapmq");
});

test("a TAP does not stay if its setup fails halfway", async () => {
  await expect(
    runIn([namespace], "createTap", { name: "taphalf", mtu: 65_535 }),
  ).rejects.toMatchObject({ syscall: "ioctl(SIOCSIFMTU)" });
  expect((await runIn([namespace], "listInterfaces", {})).value).not.toContain("taphalf");
});
