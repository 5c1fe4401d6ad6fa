import { spawn } from "node:child_process";
import type { SafePath } from "@virtkit/host-primitives/safe-path";

/** What a user may do with a file. */
export interface FileAccess {
  readonly readable: boolean;
  readonly writable: boolean;
}

/**
 * Asks the kernel, as the user itself, what it may do with a file that is open as a path: owner, mode and
 * access lists of exactly this file count, folders on the way do not, for they are not on the way of a
 * mount. Changes nothing. Needs root.
 */
export async function fileAccess(file: SafePath, uid: number): Promise<FileAccess> {
  const script = "test -r /proc/self/fd/0 && echo r; test -w /proc/self/fd/0 && echo w; exit 0";
  const user = [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
  const child = spawn("setpriv", [...user, "--", "sh", "-c", script], {
    stdio: [file.fd, "pipe", "ignore"],
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    timeout: 10_000,
    killSignal: "SIGKILL",
  });
  let said = "";
  child.stdout?.on("data", (chunk) => {
    said += String(chunk);
  });
  await new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  const answers = said.split("\n");
  return { readable: answers.includes("r"), writable: answers.includes("w") };
}
