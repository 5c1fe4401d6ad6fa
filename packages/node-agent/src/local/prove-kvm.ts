import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ToolResult, tryTool } from "./run-tool.ts";

/** Whether guests can use KVM on this machine, and if not why. */
export interface KvmProof {
  readonly usable: boolean;
  readonly reason: string;
}

/** How {@link proveKvm} looks. */
export interface ProveKvmOptions {
  /** Where the answer is remembered until the machine boots again. Default `/run/virtkit/kvm.json`. */
  readonly file?: string;
  /** Looks even where an answer is remembered. */
  readonly again?: boolean;
  /** Milliseconds for the short boot; a working KVM needs a fraction of a second. Default 8,000. */
  readonly timeout?: number;
}

/**
 * A boot sector. It maps the first 2 MiB, turns on 64-bit mode, counts down from 20 million there, and writes
 * 0x10 to QEMU's debug port, which ends QEMU with 2 * 16 + 1. A processor that runs the guest takes some
 * hundredths of a second. A KVM that has to imitate each instruction, as one does whose guests must be made
 * for it (kvm_pvm), does not come to the end of the count.
 */
const program = [
  // cli; ds, es and ss are 0; clear the page tables at 0x1000, 0x2000, 0x3000
  "fa31c08ed88ec08ed066bf0010000066b9000c00006631c0fc66f3ab",
  // one entry each: the next table, the next table, a page of 2 MiB
  "66c70600100320000066c70600200330000066c706003083000000",
  // cr4: PAE; cr3: the first table; EFER: long mode; cr0: paging and protection
  "66b8200000000f22e066b8001000000f22d866b9800000c00f32660d000100000f300f20c0660d010000800f22c0",
  // lgdt; a far jump into 64-bit code
  "0f0116907cea6f7c0800",
  // ecx = 20,000,000; count down; out 0xf4; hlt for ever
  "b9002d3101ffc975fcb010e6f4f4ebfd90",
  // descriptors: none, 64-bit code; their place
  "000000000000000000000000009a20000f00807c0000",
];
const bootSector = Buffer.alloc(1 << 20);
Buffer.from(program.join(""), "hex").copy(bootSector);
bootSector.writeUInt16LE(0xaa55, 510);
/** Exit code of QEMU after the write. */
export const proven: number = 0x10 * 2 + 1;

/**
 * Whether KVM runs a guest here, by letting it run one: there are machines where `/dev/kvm` can be opened
 * and the guest then never executes an instruction. The answer holds until the next boot.
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
  await remember(file, { bootId, ...proof });
  return proof;
}

/** Who may not write there looks again the next time. */
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
    return undefined;
  }
}

async function look(timeout: number): Promise<KvmProof> {
  if (!existsSync("/dev/kvm")) return { usable: false, reason: "there is no /dev/kvm" };
  if (process.arch !== "x64") return { usable: true, reason: "/dev/kvm is there" };
  const { code, stderr } = await shortBoot("kvm", timeout);
  if (code === proven) return { usable: true, reason: "a guest ran" };
  if (code !== undefined) return { usable: false, reason: lastLine(stderr) };
  const isMissing = stderr.includes("ENOENT");
  const hung = `/dev/kvm is there, yet a guest did not get through its first instructions in ${timeout / 1000} s`;
  return { usable: false, reason: isMissing ? "there is no qemu-system-x86_64" : hung };
}

/** Boots the sector with an accelerator of QEMU; the code is {@link proven} where it ran to its end. */
export async function shortBoot(accel: "kvm" | "tcg", timeout: number): Promise<ToolResult> {
  const directory = await mkdtemp(join(tmpdir(), "virtkit-kvm-"));
  try {
    const disk = join(directory, "disk.img");
    await writeFile(disk, bootSector);
    const machine = ["-accel", accel, "-M", "pc", "-m", "32", "-display", "none", "-nodefaults"];
    const port = ["-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-no-reboot"];
    const drive = ["-drive", `file=${disk},format=raw,if=ide`];
    return await tryTool("qemu-system-x86_64", [...machine, ...port, ...drive], { timeout });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.slice(0, 300) || "QEMU ended without a guest";
}
