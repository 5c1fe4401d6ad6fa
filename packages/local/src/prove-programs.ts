import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  emulator,
  emulatorState,
  findProgram,
  libvirtdPath,
  libvirtdState,
  type ProgramState,
} from "./host-programs.ts";
import { launcherUid } from "./pod-volumes.ts";
import { proven, shortBoot } from "./prove-kvm.ts";
import { tryTool } from "./run-tool.ts";

const startTimeout = 20_000;

/**
 * Whether libvirtd starts as launchers start it: for one unprivileged user, with its own folder. It
 * ends by itself after an idle second, and leaves nothing.
 */
export async function proveLibvirtd(
  path: string = libvirtdPath,
  timeout: number = startTimeout,
): Promise<ProgramState> {
  const state = await libvirtdState(path);
  if (state.state !== "ok") return state;
  const home = await mkdtemp(join(tmpdir(), "virtkit-libvirtd-"));
  try {
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(home, launcherUid, launcherUid);
    const user = [`--reuid=${launcherUid}`, `--regid=${launcherUid}`, "--clear-groups", "--"];
    const [tool = "", ...args] = [
      ...(isRoot ? ["setpriv", ...user] : []),
      ...["env", `HOME=${home}`],
      ...["RUNTIME_DIR", "CACHE_HOME", "CONFIG_HOME", "DATA_HOME"].map(
        (name) => `XDG_${name}=${home}`,
      ),
      ...[path, "--timeout=1", "--pid-file", join(home, "pid")],
    ];
    const { code, signal, stderr } = await tryTool(tool, args, { timeout });
    if (code === 0) return { state: "ok", found: path };
    const end =
      signal === "SIGKILL" ? `did not respond for ${timeout / 1000} s` : `ends with ${code}`;
    return { state: "broken", found: `${path} ${end}: ${lastLine(stderr)}` };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Whether QEMU runs a guest, in software; on arm64, whether it answers at all. */
export async function proveQemu(timeout: number = startTimeout): Promise<ProgramState> {
  const path = findProgram(emulator);
  const { machineTypes: _types, ...state } = await emulatorState(path);
  if (state.state !== "ok" || process.arch !== "x64") return state;
  const { code, signal, stderr } = await shortBoot("tcg", timeout);
  if (code === proven) return { state: "ok", found: state.found };
  const end = signal === "SIGKILL" ? `did not finish within ${timeout / 1000} s` : "failed";
  return { state: "broken", found: `${path}: a short boot ${end}: ${lastLine(stderr)}` };
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.slice(0, 300) || "it printed nothing";
}
