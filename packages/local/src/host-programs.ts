import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import { localArchitecture } from "./local-architecture.ts";
import { tryTool } from "./run-tool.ts";

/** Whether a program of the host works. */
export interface ProgramState {
  readonly state: "ok" | "missing" | "broken";
  /** Its path, or what is wrong with it. */
  readonly found: string;
  /** What it printed. */
  readonly stdout?: string;
}

/** The launcher starts this very file. */
export const libvirtdPath = "/usr/sbin/libvirtd";

/** The QEMU of this host's architecture. */
export const emulator: string = {
  amd64: "qemu-system-x86_64",
  arm64: "qemu-system-aarch64",
  s390x: "qemu-system-s390x",
}[localArchitecture];

/** Where libvirt looks for QEMU: the search path that the launcher gives it. */
const sandboxPath = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Packages with a program on the known distributions. */
export const programHints: Readonly<Record<"libvirtd" | "qemu" | "swtpm", string>> = {
  libvirtd:
    "Debian: apt-get install libvirt-daemon libvirt-daemon-driver-qemu; Fedora: dnf install libvirt-daemon libvirt-daemon-driver-qemu; Arch: pacman -S libvirt",
  qemu: {
    amd64:
      "Debian: apt-get install qemu-system-x86; Fedora: dnf install qemu-system-x86-core; Arch: pacman -S qemu-system-x86",
    arm64:
      "Debian: apt-get install qemu-system-arm; Fedora: dnf install qemu-system-aarch64-core; Arch: pacman -S qemu-system-aarch64",
    s390x:
      "Debian: apt-get install qemu-system-misc; Fedora: dnf install qemu-system-s390x-core; Arch: pacman -S qemu-system-s390x",
  }[localArchitecture],
  swtpm:
    "Debian: apt-get install swtpm swtpm-tools; Fedora: dnf install swtpm; Arch: pacman -S swtpm",
};

/** The first of these files that can be executed, or else the first that exists. */
export function findProgram(
  name: string,
  folders: readonly string[] = sandboxPath,
): string | undefined {
  const places = folders.filter(Boolean).map((folder) => join(folder, name));
  return places.find(isExecutable) ?? places.find((path) => existsSync(path));
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // The answer to the question.
    return false;
  }
}

const programTimeout = 10_000;

/** Runs a program with arguments that make it answer and end, to check that it works. */
export async function tryProgram(
  path: string | undefined,
  args: readonly string[],
  timeout: number = programTimeout,
): Promise<ProgramState> {
  if (path === undefined || !existsSync(path)) return { state: "missing", found: "not found" };
  if (!isExecutable(path)) return { state: "broken", found: `${path} is not executable` };
  const { code, signal, stdout, stderr } = await tryTool(path, args, { timeout });
  if (code === 0) return { state: "ok", found: path, stdout };
  const end =
    signal === "SIGKILL"
      ? `did not answer within ${timeout / 1000} s`
      : `ended with ${code ?? signal}`;
  const said = stderr.trim().split("\n").at(-1)?.slice(0, 300);
  return { state: "broken", found: `${path} ${args.join(" ")} ${end}${said ? `: ${said}` : ""}` };
}

/** libvirtd, as the launcher starts it. */
export async function libvirtdState(path: string = libvirtdPath): Promise<ProgramState> {
  return await tryProgram(path, ["--version"]);
}

/** QEMU, with the machine types that it knows. */
export async function emulatorState(
  path: string | undefined = findProgram(emulator),
): Promise<ProgramState & { readonly machineTypes: readonly string[] }> {
  const state = await tryProgram(path, ["-machine", "help"]);
  return { ...state, machineTypes: machineTypes(state.stdout ?? "") };
}

/** Names in QEMU's list of machine types: the first word of each line after the heading. */
export function machineTypes(help: string): readonly string[] {
  const [, ...lines] = help.split("\n");
  return lines.flatMap((line) => /^(\S+)\s+\S/.exec(line)?.[1] ?? []);
}
