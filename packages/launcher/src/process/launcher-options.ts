import { parseArgs } from "node:util";
import type { NamesOptions } from "@virtkit/api/names";
import { LauncherError } from "../launcher-error.ts";

/** The options of a launcher's command line. */
export interface LauncherOptions {
  /** The VMI. */
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** UID of the Pod that the launcher runs in; a grant for another Pod is refused. */
  readonly podUid: string;
  /** How long the guest may take to shut down before it is killed. */
  readonly gracePeriodSeconds: number;
  /** How long the launcher waits for a guest to be started before it ends; 0 means forever. */
  readonly startTimeoutSeconds: number;
  readonly hookSidecars: number;
  readonly firmwareDirectory: string | undefined;
  /** Bytes of memory that looking into a disk image may take; 0 for no limit. */
  readonly diskMemoryLimit: number;
  readonly hypervisor: string;
  readonly allowEmulation: boolean;
  /** Whether the launcher stays after a failure, so that a person can inspect it. */
  readonly keepAfterFailure: boolean;
  readonly libvirtLogFilters: string | undefined;
  /** A folder with cached capabilities of QEMU, which saves libvirt seconds. */
  readonly capabilitiesCache: string | undefined;
  /** File for the termination message. */
  readonly terminationMessage: string;
  /** Whether the launcher runs the VMI's probes, because there is no kubelet. */
  readonly runProbes: boolean;
  /** The platform's names, if they differ from KubeVirt's. */
  readonly names: NamesOptions;
  /** Path of libvirtd. */
  readonly libvirtd: string;
}

const flags = {
  name: { type: "string" },
  namespace: { type: "string" },
  uid: { type: "string" },
  "pod-uid": { type: "string" },
  "grace-period-seconds": { type: "string", default: "45" },
  "start-timeout-seconds": { type: "string", default: "0" },
  "hook-sidecars": { type: "string", default: "0" },
  "firmware-dir": { type: "string" },
  "disk-memory-limit": { type: "string", default: "0" },
  hypervisor: { type: "string", default: "kvm" },
  "allow-emulation": { type: "boolean", default: false },
  "keep-after-failure": { type: "boolean", default: false },
  "libvirt-log-filters": { type: "string" },
  "capabilities-cache": { type: "string" },
  "termination-message": { type: "string", default: "/dev/termination-log" },
  "run-probes": { type: "boolean", default: false },
  names: { type: "string", default: "{}" },
  libvirtd: { type: "string", default: "/usr/sbin/libvirtd" },
} as const;

/**
 * Reads the command line that `virtkitLauncherProfile` of `@virtkit/launcher-pod` writes, and some options
 * of our own. Throws a `LauncherError` that names the option: a missing, unknown or malformed one.
 */
export function parseLauncherOptions(line: readonly string[]): LauncherOptions {
  const { values } = parsed(line);
  return {
    name: required("name", values.name),
    namespace: required("namespace", values.namespace),
    uid: required("uid", values.uid),
    podUid: required("pod-uid", values["pod-uid"]),
    gracePeriodSeconds: count("grace-period-seconds", values["grace-period-seconds"]),
    startTimeoutSeconds: count("start-timeout-seconds", values["start-timeout-seconds"]),
    hookSidecars: count("hook-sidecars", values["hook-sidecars"]),
    firmwareDirectory: values["firmware-dir"],
    diskMemoryLimit: count("disk-memory-limit", values["disk-memory-limit"]),
    hypervisor: values.hypervisor,
    allowEmulation: values["allow-emulation"],
    keepAfterFailure: values["keep-after-failure"],
    libvirtLogFilters: values["libvirt-log-filters"],
    capabilitiesCache: values["capabilities-cache"],
    terminationMessage: values["termination-message"],
    runProbes: values["run-probes"],
    names: namesOptions(values.names),
    libvirtd: values.libvirtd,
  };
}

function parsed(line: readonly string[]): ReturnType<typeof parseFlags> {
  try {
    return parseFlags(line);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LauncherError("LAUNCHER_OPTION", `the command line cannot be read: ${why}`, {
      cause,
    });
  }
}

const parseFlags = (line: readonly string[]) => parseArgs({ args: [...line], options: flags });

/** Names and UIDs become parts of paths and of the domain's name. */
const nameForm = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;

function required(option: string, value: string | undefined): string {
  if (value !== undefined && nameForm.test(value)) return value;
  const found = value === undefined ? "is missing" : `is ${JSON.stringify(value.slice(0, 80))}`;
  throw wrong(option, `${found}; give a name of letters, digits, "-" and "."`);
}

function count(option: string, value: string): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw wrong(option, `is ${JSON.stringify(value.slice(0, 80))}; give a whole number`);
}

function namesOptions(json: string): NamesOptions {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw wrong("names", "is not JSON; give an object of names");
  }
  const { directories = {}, ...prefixes } = Object(value) as Record<string, unknown>;
  if (!isObject(value) || !isObject(directories))
    throw wrong("names", "must be an object of names");
  for (const [key, name] of Object.entries({ ...prefixes, ...directories })) {
    if (typeof name !== "string" || name === "") throw wrong("names", `has no string as ${key}`);
  }
  return value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(option: string, what: string): LauncherError {
  return new LauncherError("LAUNCHER_OPTION", `--${option} ${what}`, { path: `--${option}` });
}
