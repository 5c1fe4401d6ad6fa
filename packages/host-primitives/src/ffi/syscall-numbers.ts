import { HostError } from "../host-error.ts";

/**
 * Numbers of system calls that the C library has no function for, or only in newer versions. From
 * 424 on, the numbers are the same on every architecture.
 */
const everywhere = {
  pidfdSendSignal: 424,
  openTree: 428,
  moveMount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  pidfdOpen: 434,
  closeRange: 436,
  openat2: 437,
  mountSetattr: 442,
} as const;

const byArchitecture: Readonly<
  Record<string, { readonly bpf: number; readonly pivotRoot: number }>
> = {
  x64: { bpf: 321, pivotRoot: 155 },
  arm64: { bpf: 280, pivotRoot: 41 },
  riscv64: { bpf: 280, pivotRoot: 41 },
  s390x: { bpf: 351, pivotRoot: 217 },
};

export type SyscallName = keyof typeof everywhere | "bpf" | "pivotRoot";

/** The number of a system call on this host. Throws on an architecture that is not in the table. */
export function syscallNumber(name: SyscallName): number {
  if (name !== "bpf" && name !== "pivotRoot") return everywhere[name];
  const numbers = byArchitecture[process.arch];
  if (numbers) return numbers[name];
  const message = `${name}: the number of this system call is not known for ${process.arch}`;
  throw new HostError("HOST_UNSUPPORTED", message, { path: name });
}
