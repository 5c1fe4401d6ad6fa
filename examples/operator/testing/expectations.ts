import type { Cluster } from "@virtkit/lab/cluster";
import { expect } from "vitest";
import { type Guests, reach } from "./guests.ts";
import { patience } from "./installed-operator.ts";
import { nodeTraces } from "./node-traces.ts";

/** Waits until the guest of a VM runs and answers on its port. Returns its address. */
export async function running(guests: Guests, name: string): Promise<string> {
  await expect.poll(() => guests.field(`vmi/${name}`, ".status.phase"), patience).toBe("Running");
  let address = "";
  const served = async (): Promise<string> => {
    // If a guest agent reports before its guest has an address, the Pod's address is missing from the status for a while.
    address = await guests.field(`vmi/${name}`, ".status.interfaces[0].ipAddress");
    return address === "" ? "no address" : await reach(address);
  };
  await expect.poll(served, patience).toMatch(/^boot_id=/);
  return address;
}

/** Waits until a VM has another VMI than the one with this UID, and until its guest answers. Returns its address. */
export async function runningAgain(guests: Guests, name: string, uid: string): Promise<string> {
  const found = (): Promise<string> => guests.field(`vmi/${name}`, ".metadata.uid");
  await expect.poll(found, patience).not.toMatch(new RegExp(`^(${uid})?$`));
  return await running(guests, name);
}

/** Deletes the VMs of a namespace, and waits until they have left no traces. */
export async function nothingIsLeft(
  cluster: Cluster,
  guests: Guests,
  before: readonly string[],
): Promise<void> {
  await guests.kubectl("delete", "vm", "--all", "--wait=false");
  await expect.poll(() => guests.objects("vm", "vmi", "pod"), patience).toEqual([]);
  const added = async (): Promise<string[]> =>
    (await nodeTraces(cluster)).filter((trace) => !before.includes(trace));
  await expect.poll(added, patience).toEqual([]);
}
