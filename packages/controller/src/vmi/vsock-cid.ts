import { sha256 } from "@virtkit/api/hash";
import { text } from "@virtkit/api/shape";
import type { VmiPass } from "./vmi-pass.ts";

const firstCid = 3;
const cidCount = 2 ** 32 - firstCid;

/**
 * Gives the guest a VSOCK address that no other VMI has. The search starts at a place that follows
 * from the VMI's UID, so that the same plan gives the same address.
 */
export function assignCid(pass: VmiPass): void {
  const { vmi, view, status } = pass;
  if (vmi.spec.domain.devices.autoattachVSOCK !== true || status.VSOCKCID !== undefined) return;
  const taken = new Set(view.vmis().flatMap((each) => each.status?.VSOCKCID ?? []));
  const start = Number.parseInt(sha256(text(vmi.metadata?.uid)).slice(0, 8), 16) % cidCount;
  let offset = 0;
  while (taken.has(firstCid + ((start + offset) % cidCount))) offset++;
  pass.status = { ...status, VSOCKCID: firstCid + ((start + offset) % cidCount) };
}
