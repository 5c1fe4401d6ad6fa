import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { tryTool } from "./run-tool.ts";

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
 * A boot sector: `mov al, 0x10; out 0xf4, al; hlt; jmp -1`. QEMU's debug port ends QEMU with 2 * 16 + 1,
 * which is proof that the guest's CPU has run the firmware and this code.
 */
const bootSector = Buffer.alloc(1 << 20);
Buffer.from([0xb0, 0x10, 0xe6, 0xf4, 0xf4, 0xeb, 0xfd]).copy(bootSector);
bootSector.writeUInt16LE(0xaa55, 510);
const proven = 0x10 * 2 + 1;

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
  const directory = await mkdtemp(join(tmpdir(), "virtkit-kvm-"));
  try {
    const disk = join(directory, "disk.img");
    await writeFile(disk, bootSector);
    const { code, stderr } = await tryTool("qemu-system-x86_64", qemuArguments(disk), { timeout });
    if (code === proven) return { usable: true, reason: "a guest ran" };
    if (code !== undefined) return { usable: false, reason: lastLine(stderr) };
    const isMissing = stderr.includes("ENOENT");
    const hung = `/dev/kvm is there, yet a guest did not run its first instructions in ${timeout / 1000} s`;
    return { usable: false, reason: isMissing ? "there is no qemu-system-x86_64" : hung };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function qemuArguments(disk: string): string[] {
  const machine = ["-accel", "kvm", "-M", "pc", "-m", "32", "-display", "none", "-nodefaults"];
  const port = ["-device", "isa-debug-exit,iobase=0xf4,iosize=4"];
  return [...machine, ...port, "-drive", `file=${disk},format=raw,if=ide`, "-no-reboot"];
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.slice(0, 300) || "QEMU ended without a guest";
}
