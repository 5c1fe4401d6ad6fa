import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ToolResult, tryTool } from "./run-tool.ts";

/** Whether guests can use KVM on this host, and if not, why. */
export interface KvmProof {
  readonly usable: boolean;
  readonly reason: string;
}

/** How {@link proveKvm} looks. */
export interface ProveKvmOptions {
  /** Where the answer is remembered until the host boots again. Default `/run/virtkit/kvm.json`. */
  readonly file?: string;
  /** Tests even if an answer is remembered. */
  readonly again?: boolean;
  /** Milliseconds for the short boot; a working KVM needs a fraction of a second. Default 8,000. */
  readonly timeout?: number;
}

/**
 * A boot sector that does what a kernel does first: page tables for the lowest 2 MiB, there and at -2 GiB,
 * long mode, new page tables, a return from an interrupt to the upper address. There it counts down from 20
 * million, which takes a processor hundredths of a second, and a KVM that has to imitate each instruction
 * longer than anybody waits. Then it writes 0x10 to QEMU's debug port, which ends QEMU with 2 * 16 + 1.
 *
 *     7c00  cli; ax, ds, es, ss = 0; sp = 0x7c00
 *     7c0c  zero 0x1000..0x4000
 *     7c15  [0x1000] = [0x1ff8] = 0x2003; [0x2000] = [0x2ff0] = 0x3003; [0x3000] = 0x0083
 *     7c33  cr4 = PAE; cr3 = 0x1000; EFER |= LME; lgdt; cr0 |= PG | PE
 *     7c64  ljmp 8:0x7c6c
 *     7c6c  ds, ss = 16; esp = 0x7c00; cr3 = cr3; invlpg 0x1000
 *     7c88  push 16, 0x7c00, flags, 8, 0xffffffff80007c99; iretq
 *     7c99  ecx = 20,000,000; dec ecx until it is 0; out 0xf4, 0x10; hlt
 *     7ca9  the descriptor table, and what lgdt reads
 */
const bootCode = [
  "fa31c08ed88ec08ed0bc007c",
  "bf0010b90018fcf3ab",
  "c70600100320c70600200330c70600308300c706f81f0320c706f02f0330",
  "66b8200000000f22e066b8001000000f22d866b9800000c00f320d00010f30660f0116c17c0f20c0660d010000800f22c0",
  "66ea6c7c00000800",
  "b8100000008ed88ed0bc007c00000f20d80f22d80f013c2500100000",
  "6a1068007c00009c6a0868997c008048cf",
  "b9002d3101ffc975fcb010e6f4f4ebfd",
  "0000000000000000ffff0000009aaf00ffff00000092cf001700a97c0000",
].join("");
const bootSector = Buffer.alloc(1 << 20);
bootSector.write(bootCode, "hex");
bootSector.writeUInt16LE(0xaa55, 510);
/** Exit code of QEMU after that. */
export const proven: number = 0x10 * 2 + 1;

/**
 * Tests whether KVM runs a guest here, on the host's own CPU model, which is the default of guests:
 * on some hosts `/dev/kvm` can be opened but guests hang, or QEMU fails with that model. The answer
 * holds until the next boot.
 */
export async function proveKvm({
  file = "/run/virtkit/kvm.json",
  again = false,
  timeout = 8_000,
}: ProveKvmOptions = {}): Promise<KvmProof> {
  const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const known = again ? undefined : await remembered(file, bootId);
  if (known) return known;
  const proof = await look(timeout);
  // What is missing may be installed later, as a package or a kernel module: then it is tested
  // again.
  if (!proof.reason.startsWith("there is no")) await remember(file, { bootId, ...proof });
  return proof;
}

/** A caller that may not write there tests again the next time. */
async function remember(
  file: string,
  proof: KvmProof & { readonly bootId: string },
): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(proof));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["EACCES", "EPERM", "EROFS"].includes(code)) throw error;
  }
}

async function remembered(file: string, bootId: string): Promise<KvmProof | undefined> {
  try {
    const found = JSON.parse(await readFile(file, "utf8")) as Partial<
      KvmProof & { bootId: string }
    >;
    if (found.bootId !== bootId || typeof found.usable !== "boolean") return undefined;
    return { usable: found.usable, reason: String(found.reason) };
  } catch {
    // Nothing proven yet: it is looked at anew.
    return undefined;
  }
}

async function look(timeout: number): Promise<KvmProof> {
  if (!existsSync("/dev/kvm")) return { usable: false, reason: "there is no /dev/kvm" };
  if (process.arch !== "x64") return { usable: true, reason: "/dev/kvm is there" };
  return verdict(await shortBoot("kvm", timeout), timeout);
}

/** Boots the sector with an accelerator of QEMU; the code is {@link proven} where it came to its end. */
export async function shortBoot(accel: "kvm" | "tcg", timeout: number): Promise<ToolResult> {
  const directory = await mkdtemp(join(tmpdir(), "virtkit-kvm-"));
  try {
    const disk = join(directory, "disk.img");
    await writeFile(disk, bootSector);
    return await tryTool("qemu-system-x86_64", qemuArguments(disk, accel), { timeout });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function verdict({ code, signal, stderr }: ToolResult, timeout: number): KvmProof {
  if (code === proven) return { usable: true, reason: "a guest ran" };
  if (signal === "SIGKILL") {
    const seconds = timeout / 1000;
    const reason = `/dev/kvm exists, but a guest did not complete its first instructions within ${seconds} s`;
    return { usable: false, reason };
  }
  if (stderr.includes("ENOENT")) return { usable: false, reason: "there is no qemu-system-x86_64" };
  const reason = `/dev/kvm exists, but QEMU gave up: ${lastLine(stderr)}`;
  return { usable: false, reason };
}

function qemuArguments(disk: string, accel: "kvm" | "tcg"): string[] {
  const cpu = ["-accel", accel, "-cpu", accel === "kvm" ? "host" : "max"];
  const machine = ["-M", "pc", "-m", "32", "-display", "none", "-nodefaults"];
  const port = ["-device", "isa-debug-exit,iobase=0xf4,iosize=4"];
  return [...cpu, ...machine, ...port, "-drive", `file=${disk},format=raw,if=ide`, "-no-reboot"];
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.slice(0, 300) || "QEMU ended without running a guest";
}
