import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { MovingVm } from "./moving-vm.ts";
import { qemusOfGuest } from "./qemu-of-guest.ts";

/** What to look at in the network namespace of a guest's Pod. */
const views = [
  "ip -br address",
  "ip route",
  "ip neigh",
  "nft list ruleset",
  "curl -s -S -m 3 http://10.0.2.2/count",
  "ss -tn",
];

/**
 * What a host can see of a guest that does not answer: whether its vCPUs run, whether it still writes to its shared disk, and
 * what its Pod's network looks like.
 */
export async function guestFacts(vm: MovingVm): Promise<string> {
  const lines: string[] = [];
  const qemus = qemusOfGuest(vm.namespace, vm.name);
  const [disk, times] = [vm.diskCount(), qemus.map((qemu) => qemu.vcpuTime())];
  await sleep(2_000);
  lines.push(`counts on its disk: ${disk}, two seconds later ${vm.diskCount()}`);
  for (const [index, { pid, node, ...qemu }] of qemus.entries()) {
    const ran = (qemu.vcpuTime() - (times[index] ?? 0)) / 1e6;
    lines.push(`QEMU ${pid} on ${node}: its vCPUs ran for ${ran.toFixed(0)} ms of two seconds`);
    for (const view of views) lines.push(`${view}:`, await inNetworkOf(pid, view));
  }
  return lines.join("\n");
}

async function inNetworkOf(pid: string, command: string): Promise<string> {
  const args = ["-t", pid, "-n", ...command.split(" ")];
  try {
    return (await promisify(execFile)("nsenter", args, { timeout: 10_000 })).stdout;
  } catch (error) {
    return String(error);
  }
}
