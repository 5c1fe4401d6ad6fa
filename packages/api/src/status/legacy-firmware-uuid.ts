import { sha1 } from "../hash/sha1.ts";
import { utf8 } from "../hash/utf8.ts";

/** The name space of KubeVirt's UUIDs. */
const nameSpace = "6a1a24a1-4061-4607-8bf4-a3963d0c5895";

/**
 * The firmware UUID of a VM that does not set one, derived from the VM's name: version 5 of RFC 9562. Guests
 * have seen it since KubeVirt 0.x, so it cannot change, although VMs of the same name share it.
 */
export function legacyFirmwareUuid(vmName: string): string {
  const space = nameSpace.replaceAll("-", "").match(/../g) ?? [];
  const bytes = [...space.map((byte) => Number.parseInt(byte, 16)), ...utf8(vmName)];
  const digest = sha1(Uint8Array.from(bytes)).slice(0, 16);
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
