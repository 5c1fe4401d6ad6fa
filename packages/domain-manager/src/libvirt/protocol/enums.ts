/**
 * libvirt's enumerations; the position in a list is the number on the wire. A number beyond the
 * list, from a newer daemon, stays a number.
 */
export const enumerations = {
  domainState: [
    "noState",
    "running",
    "blocked",
    "paused",
    "shutdown",
    "shutoff",
    "crashed",
    "pmSuspended",
  ],
  lifecycleEvent: [
    "defined",
    "undefined",
    "started",
    "suspended",
    "resumed",
    "stopped",
    "shutdown",
    "pmSuspended",
    "crashed",
  ],
  vcpuState: ["offline", "running", "blocked"],
  metadataType: ["description", "title", "element"],
  memoryStat: [
    "swapIn",
    "swapOut",
    "majorFault",
    "minorFault",
    "unused",
    "available",
    "actualBalloon",
    "rss",
    "usable",
    "lastUpdate",
    "diskCaches",
    "hugetlbPageAllocations",
    "hugetlbPageFailures",
  ],
  dumpFormat: ["raw", "kdumpZlib", "kdumpLzo", "kdumpSnappy", "winDump"],
  keycodeSet: ["linux", "xt", "atset1", "atset2", "atset3", "osx", "xtKbd", "usb", "win32", "qnum"],
  addressSource: ["lease", "agent", "arp"],
  addressType: ["ipv4", "ipv6"],
  cpuComparison: ["incompatible", "identical", "superset"],
  jobType: ["none", "bounded", "unbounded", "completed", "failed", "cancelled"],
  blockJobType: ["unknown", "pull", "copy", "commit", "activeCommit", "backup"],
  blockJobStatus: ["completed", "failed", "canceled", "ready"],
  secretUsage: ["none", "volume", "ceph", "iscsi", "tls", "vtpm"],
  watchdogAction: ["none", "pause", "reset", "poweroff", "shutdown", "debug", "injectNmi"],
  ioErrorAction: ["none", "pause", "report"],
  graphicsPhase: ["connect", "initialize", "disconnect"],
  graphicsFamily: ["ipv4", "ipv6", "unix"],
  trayChange: ["open", "close"],
  agentState: ["unknown", "connected", "disconnected"],
  agentReason: ["unknown", "domainStarted", "channel"],
  authType: ["none", "sasl", "polkit"],
} as const;

/** The names of one enumeration. */
export type EnumName<Name extends keyof typeof enumerations> = (typeof enumerations)[Name][number];

/** Why a domain is in its state: the meaning of the second number of `domainGetState`. */
const stateReasons: Readonly<Record<string, readonly string[]>> = {
  running: [
    ...["unknown", "booted", "migrated", "restored", "fromSnapshot", "unpaused"],
    ...["migrationCanceled", "saveCanceled", "wakeup", "crashed", "postcopy", "postcopyFailed"],
  ],
  paused: [
    ...["unknown", "user", "migration", "save", "dump", "ioError", "watchdog", "fromSnapshot"],
    ...["shuttingDown", "snapshot", "crashed", "startingUp", "postcopy", "postcopyFailed"],
    "apiError",
  ],
  shutdown: ["unknown", "user"],
  shutoff: [
    ...["unknown", "shutdown", "destroyed", "crashed", "migrated", "saved", "failed"],
    ...["fromSnapshot", "daemon"],
  ],
  crashed: ["unknown", "panicked"],
};

/** What exactly happened: the meaning of the second number of a lifecycle event. */
const lifecycleDetails: Readonly<Record<string, readonly string[]>> = {
  defined: ["added", "updated", "renamed", "fromSnapshot"],
  undefined: ["removed", "renamed"],
  started: ["booted", "migrated", "restored", "fromSnapshot", "wakeup", "recreated"],
  suspended: [
    ...["paused", "migrated", "ioError", "watchdog", "restored", "fromSnapshot", "apiError"],
    ...["postcopy", "postcopyFailed", "guestShutdown"],
  ],
  resumed: ["unpaused", "migrated", "fromSnapshot", "postcopy", "postcopyFailed"],
  stopped: [
    ...["shutdown", "destroyed", "crashed", "migrated", "saved", "failed", "fromSnapshot"],
    "recreated",
  ],
  shutdown: ["finished", "guest", "host"],
  pmSuspended: ["memory", "disk"],
  crashed: ["panicked", "crashloaded"],
};

/** The name of the reason that `domainGetState` gives with a state; `unknown` if there is none. */
export function stateReason(state: string | number, reason: number): string {
  return Object.hasOwn(stateReasons, state)
    ? (stateReasons[state]?.[reason] ?? "unknown")
    : "unknown";
}

/** The name of the detail that a lifecycle event has; `unknown` if there is none. */
export function lifecycleDetail(event: string | number, detail: number): string {
  return Object.hasOwn(lifecycleDetails, event)
    ? (lifecycleDetails[event]?.[detail] ?? "unknown")
    : "unknown";
}
