// Usage: node run.mjs DISK.qcow2, with a disk whose guest runs the QEMU guest agent
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseAccel, removeVmi, startVmi, stopVmi } from "@virtkit/local";

const disk = process.argv[2] ?? "disk.qcow2";
const stateDirectory = mkdtempSync(join(tmpdir(), "virtkit-run-a-vm-"));
const vmi = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "example" },
  spec: {
    domain: {
      memory: { guest: "256Mi" },
      devices: {
        disks: [{ name: "root", disk: { bus: "virtio" } }],
        interfaces: [{ name: "default", masquerade: {} }],
      },
    },
    networks: [{ name: "default", pod: {} }],
    volumes: [{ name: "root", containerDisk: { image: "example" } }],
  },
};
const { accel } = await chooseAccel("auto");
const sources = { images: { example: disk } };
const machine = await startVmi({
  ...{ stateDirectory, vmi, accel, sources },
  onHandoff: ({ stage, state }) => process.stdout.write(`${stage} ${state ?? "done"}\n`),
});
try {
  while ((await machine.guest.client.status()).agent !== "connected") await sleep(200);
  const { stdout } = await machine.guest.client.exec({ command: "uname", args: ["-sr"] });
  process.stdout.write(`The guest runs ${stdout}`);
  await stopVmi(stateDirectory, machine.record);
} finally {
  await machine[Symbol.asyncDispose]();
  await removeVmi(stateDirectory, machine.record);
  rmSync(stateDirectory, { recursive: true, force: true });
}
