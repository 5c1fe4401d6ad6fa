import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeError } from "@virtkit/api/observe";
import { type CpioEntry, cpioArchive } from "./cpio-archive.ts";
import { guestImage } from "./guest-image.ts";
import { LabError } from "./lab-error.ts";
import { runProgram } from "./run-program.ts";
import { sharedLibraries } from "./shared-libraries.ts";

/** What {@link runInGuest} runs. */
export interface GuestRun {
  /** A shell script that is the guest's PID 1. Nothing is mounted when it starts. */
  readonly script: string;
  /** What it finds beside busybox. */
  readonly files?: readonly CpioEntry[];
  /** Whether the guest has this process's Node as `/bin/node`. */
  readonly node?: boolean;
  readonly memoryMiB?: number;
  /** After this many milliseconds the guest is killed; two minutes by default. */
  readonly timeout?: number;
}

const begin = "virtkit-guest-begin";
const end = "virtkit-guest-end";

/**
 * Boots the lab's kernel with a script as its init and returns what the script printed. For what
 * this host's kernel cannot show, such as cgroup hierarchies that it has mounted differently. The
 * guest has no disk and no network, and is gone afterwards.
 *
 * @throws LabError if the guest does not reach the script's end in time, or if that exits with
 * anything but 0.
 */
export async function runInGuest(run: GuestRun): Promise<string> {
  const { kernel, initrd } = await guestImage();
  const work = await mkdtemp(join(tmpdir(), "virtkit-guest-"));
  try {
    const file = join(work, "initrd");
    // Linux unpacks archives one after the other, each aligned to 4 bytes.
    const base = await readFile(initrd);
    const padding = Buffer.alloc(-base.length & 3);
    await writeFile(file, Buffer.concat([base, padding, cpioArchive(await entries(run))]));
    // If the console is a pipe, QEMU drops bytes while nobody reads.
    const console = join(work, "console");
    await writeFile(console, "");
    const args = [...commandLine(run, kernel, file), "-serial", `file:${console}`];
    try {
      await runProgram("qemu-system-x86_64", args, { timeout: run.timeout ?? 120_000 });
    } catch (cause) {
      const so = (await readFile(console, "utf8")).slice(-2000);
      const message = `the guest failed: ${describeError(cause)}; its console: ${so}`;
      throw new LabError("LAB_PROGRAM_FAILED", message, { cause });
    }
    return outputOf(await readFile(console, "utf8"));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function entries({ script, files = [], node = false }: GuestRun): Promise<CpioEntry[]> {
  return [
    { path: "run-in-guest", kind: "file", data: script },
    { path: "run-init", kind: "file", data: init },
    ...files,
    ...(node
      ? [
          { path: "bin/node", kind: "file" as const, data: await readFile(process.execPath) },
          ...(await sharedLibraries(process.execPath)),
        ]
      : []),
  ];
}

/** The end of PID 1 is a panic, so the script is its child. */
const init = `#!/bin/sh
echo; echo ${begin}
/bin/sh /run-in-guest
code=$?
echo; echo ${end} $code
poweroff -f
`;

function commandLine({ memoryMiB = 512 }: GuestRun, kernel: string, initrd: string): string[] {
  // The kernel's messages would appear in the middle of the script's lines, except the reason of a
  // panic. On a busy host an emulated timer is late, and the kernel mistakes it for a broken one.
  const append = "console=ttyS0 loglevel=1 no_timer_check panic=-1 rdinit=/run-init";
  return [
    ...["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"],
    ...["-machine", "q35,accel=tcg", "-cpu", "max", "-smp", "2", "-m", `${memoryMiB}`],
    ...["-kernel", kernel, "-initrd", initrd, "-append", append],
  ];
}

function outputOf(console: string): string {
  const text = console.replaceAll("\r", "");
  const found = new RegExp(`\n${begin}\n([^]*)\n${end} (\\d+)`).exec(text);
  if (found?.[2] === "0") return found[1]?.trim() ?? "";
  const why = found
    ? `its script exits with ${found[2]}`
    : "it did not reach the end of its script";
  throw new LabError("LAB_PROGRAM_FAILED", `the guest failed: ${why}: ${text.slice(-2000)}`);
}
