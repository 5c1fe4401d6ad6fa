import { hasInfoSource } from "@virtkit/api/network";
import { parseQuantity } from "@virtkit/api/quantity";
import type { Interface, VirtualMachineInstance } from "@virtkit/api/schema";

/** The most queues that the kernel gives a TAP. */
const maxQueues = 256;

/**
 * Queues of an interface's TAP; 0 means one queue, as in KubeVirt. A running domain keeps the
 * number that it was started with, even on the target of a migration.
 */
export function interfaceQueues(vmi: VirtualMachineInstance, iface: Interface): number {
  const model = iface.model ?? "";
  if (model !== "" && model !== "virtio") return 0;
  const status = vmi.status?.interfaces?.findLast(
    ({ name, infoSource }) => name === iface.name && hasInfoSource(infoSource ?? "", "domain"),
  );
  if (status) return status.queueCount ?? 0;
  if (vmi.spec?.domain?.devices?.networkInterfaceMultiqueue !== true) return 0;
  return Math.min(requestedVcpus(vmi), maxQueues);
}

function requestedVcpus(vmi: VirtualMachineInstance): number {
  const { cores = 0, sockets = 0, threads = 0 } = vmi.spec?.domain?.cpu ?? {};
  if (cores || sockets || threads) return (cores || 1) * (sockets || 1) * (threads || 1);
  const { limits, requests } = vmi.spec?.domain?.resources ?? {};
  const cpu = limits?.["cpu"] ?? requests?.["cpu"];
  return cpu === undefined ? 1 : Number(parseQuantity(String(cpu)).value());
}
