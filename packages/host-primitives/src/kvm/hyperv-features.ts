import { closeSync, openSync } from "node:fs";
import { hasExtension, savedRegisters } from "./kvm-calls.ts";

/**
 * What shows that KVM has a Hyper-V feature: an extension or a register; the extension if there are
 * both.
 */
const features: readonly { name: string; extension?: number; register?: number }[] = [
  { name: "base", extension: 44 },
  { name: "time", extension: 82 },
  { name: "vpindex", extension: 145 },
  { name: "tlbflush", extension: 155 },
  { name: "ipi", extension: 161 },
  { name: "synic", extension: 123 },
  { name: "synic2", extension: 148 },
  { name: "frequencies", register: 0x4000_0022 },
  { name: "reset", register: 0x4000_0003 },
  { name: "runtime", register: 0x4000_0010 },
  { name: "synictimer", register: 0x4000_00b0 },
  { name: "reenlightenment", register: 0x4000_0106 },
];

/**
 * The Hyper-V features of this host's KVM, by KubeVirt's names. None without KVM, or if the host is
 * not x86.
 */
export function hypervFeatures(device = "/dev/kvm"): readonly string[] {
  if (process.arch !== "x64") return [];
  let fd: number;
  try {
    fd = openSync(device, "r+");
  } catch {
    // No KVM here, or not for us: guests have none of these features either.
    return [];
  }
  try {
    const registers = savedRegisters(fd);
    return features
      .filter(({ extension, register }) =>
        extension === undefined ? registers.has(register ?? 0) : hasExtension(fd, extension),
      )
      .map(({ name }) => name);
  } finally {
    closeSync(fd);
  }
}
