import { readFileSync } from "node:fs";
import { HostError, hasErrno } from "../host-error.ts";

/** Whether and how SELinux is in force. */
export type SelinuxState = "disabled" | "permissive" | "enforcing";

/** Where the kernel shows SELinux; a parameter for tests and for agents that see the host elsewhere. */
export interface SelinuxStateOptions {
  /** Default `/sys/fs/selinux`. */
  readonly directory?: string;
}

/** The state of SELinux on this host; `disabled` if the kernel lacks it or has it off. */
export function selinuxState({
  directory = "/sys/fs/selinux",
}: SelinuxStateOptions = {}): SelinuxState {
  try {
    return readFileSync(`${directory}/enforce`, "utf8").trim() === "1" ? "enforcing" : "permissive";
  } catch (error) {
    const failure = HostError.from(error, `${directory}/enforce`);
    if (hasErrno(failure, "ENOENT", "ENOTDIR")) return "disabled";
    throw failure;
  }
}

/** Meanings of the words of KubeVirt's `getenforce` helper. */
export interface SelinuxMode {
  readonly mode: string;
  readonly present: boolean;
  readonly permissive: boolean;
}

/**
 * Parses the output of a `getenforce` helper. Only the lower-case words have a meaning. Any other
 * output, including `Disabled`, counts as SELinux being present and enforcing, to be on the safe
 * side.
 */
export function selinuxModeOf(output: string): SelinuxMode {
  const mode = output.trim();
  return { mode, present: mode !== "disabled", permissive: mode === "permissive" };
}
