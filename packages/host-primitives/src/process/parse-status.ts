import { HostError } from "../host-error.ts";

/** The parts of `/proc/<pid>/status` that identify a process. */
export interface ProcessStatus {
  readonly name: string;
  readonly parentPid: number;
  /** Real, effective, saved and file system user id. */
  readonly uids: readonly number[];
  readonly gids: readonly number[];
  /** The process's pid in each pid namespace, from the reader's inward. */
  readonly namespacePids: readonly number[];
  readonly noNewPrivileges: boolean;
  /** Capability sets as bit masks. */
  readonly capabilities: {
    readonly inheritable: bigint;
    readonly permitted: bigint;
    readonly effective: bigint;
    readonly bounding: bigint;
    readonly ambient: bigint;
  };
}

/**
 * Parses `/proc/<pid>/status`. Throws `HOST_FORMAT_INVALID` if a line that every kernel has is
 * missing.
 */
export function parseStatus(text: string): ProcessStatus {
  const lines = new Map<string, string>();
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) lines.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const need = (key: string): string => {
    const value = lines.get(key);
    if (value !== undefined) return value;
    throw new HostError("HOST_FORMAT_INVALID", `status has no line ${key}`, { path: key });
  };
  const numbers = (key: string): number[] => need(key).split(/\s+/).map(Number);
  const mask = (key: string): bigint => BigInt(`0x${lines.get(key) ?? "0"}`);
  return {
    name: need("Name"),
    parentPid: Number(need("PPid")),
    uids: numbers("Uid"),
    gids: numbers("Gid"),
    namespacePids: lines.has("NSpid") ? numbers("NSpid") : numbers("Pid"),
    noNewPrivileges: lines.get("NoNewPrivs") === "1",
    capabilities: {
      inheritable: mask("CapInh"),
      permitted: mask("CapPrm"),
      effective: mask("CapEff"),
      bounding: mask("CapBnd"),
      ambient: mask("CapAmb"),
    },
  };
}
