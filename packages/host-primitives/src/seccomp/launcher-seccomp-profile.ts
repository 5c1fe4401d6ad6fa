import { allowedCalls, refusedCalls } from "./syscall-lists.ts";

/**
 * When a rule applies: on these architectures, or to a container with (or without) these
 * capabilities.
 */
export interface SeccompFilter {
  readonly arches?: readonly string[];
  readonly caps?: readonly string[];
}

/** A condition on an argument of a call. */
export interface SeccompArgument {
  readonly index: number;
  readonly value: number;
  readonly valueTwo: number;
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_NE";
}

/** One rule of a profile. */
export interface SeccompRule {
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  readonly args: readonly SeccompArgument[] | null;
  readonly comment: string;
  readonly includes: SeccompFilter;
  readonly excludes: SeccompFilter;
  readonly errno?: string;
  readonly errnoRet?: number;
}

/** A seccomp profile as the kubelet and the container runtimes read it. */
export interface SeccompProfile {
  readonly defaultAction: "SCMP_ACT_ERRNO";
  readonly defaultErrno: string;
  readonly defaultErrnoRet: number;
  readonly archMap: readonly {
    readonly architecture: string;
    readonly subArchitectures: readonly string[];
  }[];
  readonly syscalls: readonly SeccompRule[];
}

type RuleOptions = Partial<Pick<SeccompRule, "args" | "includes" | "excludes">>;

function allow(names: readonly string[], options: RuleOptions = {}): SeccompRule {
  const defaults = { args: [], comment: "", includes: {}, excludes: {} };
  return { names, action: "SCMP_ACT_ALLOW", ...defaults, ...options };
}

const errnoNumbers = { EPERM: 1, EINVAL: 22 } as const;

function refuse(
  names: readonly string[],
  options: RuleOptions = {},
  errno: keyof typeof errnoNumbers = "EPERM",
): SeccompRule {
  const { action: _, ...rule } = allow(names, options);
  return { ...rule, action: "SCMP_ACT_ERRNO", errno, errnoRet: errnoNumbers[errno] };
}

function equal(index: number, value: number): SeccompArgument {
  return { index, value, valueTwo: 0, op: "SCMP_CMP_EQ" };
}

function unequal(index: number, value: number): SeccompArgument {
  return { index, value, valueTwo: 0, op: "SCMP_CMP_NE" };
}

/** Calls that need a capability; without it they fail with EPERM. */
function withCapability(
  capability: string,
  names: readonly string[],
  refused: readonly string[] = names,
): SeccompRule[] {
  return [
    allow(names, { includes: { caps: [capability] } }),
    refuse(refused, { excludes: { caps: [capability] } }),
  ];
}

function onArchitectures(arches: readonly string[], names: readonly string[]): SeccompRule {
  return allow(names, { includes: { arches } });
}

/**
 * Personalities that only query or select Linux itself: PER_LINUX, PER_LINUX32, both with UNAME26,
 * and the query.
 */
const personalities: readonly number[] = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];

const administration: readonly string[] = [
  "quotactl",
  "quotactl_fd",
  "setdomainname",
  "sethostname",
  "setns",
];
const modules: readonly string[] = ["delete_module", "finit_module", "init_module", "query_module"];
const clocks: readonly string[] = ["clock_settime", "clock_settime64", "settimeofday", "stime"];

/** Audit netlink sockets (family 16, protocol 9) only with the capability to write audit records. */
function auditSockets(): SeccompRule[] {
  const audit = { excludes: { caps: ["CAP_AUDIT_WRITE"] } };
  return [
    refuse(["socket"], { args: [equal(0, 16), equal(2, 9)], ...audit }, "EINVAL"),
    allow(["socket"], { args: [unequal(2, 9)], ...audit }),
    allow(["socket"], { args: [unequal(0, 16)], ...audit }),
    allow(["socket"], { args: [unequal(2, 9)], ...audit }),
    allow(["socket"], { args: null, includes: { caps: ["CAP_AUDIT_WRITE"] } }),
  ];
}

const architectures: readonly (readonly [string, ...string[]])[] = [
  ["X86_64", "X86", "X32"],
  ["AARCH64", "ARM"],
  ["MIPS64", "MIPS", "MIPS64N32"],
  ["MIPS64N32", "MIPS", "MIPS64"],
  ["MIPSEL64", "MIPSEL", "MIPSEL64N32"],
  ["MIPSEL64N32", "MIPSEL", "MIPSEL64"],
  ["S390X", "S390"],
];

/**
 * The profile of launchers: the usual one of the container runtimes, plus `userfaultfd`, which
 * post-copy migration needs. Write it to `seccomp/kubevirt/kubevirt.json` below the kubelet's
 * directory.
 */
export function launcherSeccompProfile(): SeccompProfile {
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    defaultErrno: "ENOSYS",
    defaultErrnoRet: 38,
    archMap: architectures.map(([architecture, ...others]) => ({
      architecture: `SCMP_ARCH_${architecture}`,
      subArchitectures: others.map((name) => `SCMP_ARCH_${name}`),
    })),
    syscalls: [
      refuse(refusedCalls),
      allow(allowedCalls),
      ...personalities.map((value) => allow(["personality"], { args: [equal(0, value)] })),
      onArchitectures(["ppc64le"], ["sync_file_range2", "swapcontext"]),
      onArchitectures(
        ["arm", "arm64"],
        [
          "arm_fadvise64_64",
          "arm_sync_file_range",
          "breakpoint",
          "cacheflush",
          "set_tls",
          "sync_file_range2",
        ],
      ),
      onArchitectures(["amd64", "x32"], ["arch_prctl"]),
      onArchitectures(["amd64", "x32", "x86"], ["modify_ldt"]),
      onArchitectures(
        ["s390", "s390x"],
        ["s390_pci_mmio_read", "s390_pci_mmio_write", "s390_runtime_instr"],
      ),
      onArchitectures(["riscv64"], ["riscv_flush_icache"]),
      ...withCapability("CAP_DAC_READ_SEARCH", ["open_by_handle_at"]),
      ...withCapability(
        "CAP_SYS_ADMIN",
        ["bpf", "lookup_dcookie", ...administration],
        ["lookup_dcookie", "perf_event_open", ...administration],
      ),
      ...withCapability("CAP_SYS_CHROOT", ["chroot"]),
      ...withCapability("CAP_SYS_MODULE", modules),
      ...withCapability("CAP_SYS_PACCT", ["acct"]),
      ...withCapability("CAP_SYS_PTRACE", ["kcmp", "process_madvise"]),
      ...withCapability("CAP_SYS_RAWIO", ["ioperm", "iopl"]),
      ...withCapability("CAP_SYS_TIME", clocks),
      ...withCapability("CAP_SYS_TTY_CONFIG", ["vhangup"]),
      ...auditSockets(),
      refuse(["bpf"], { excludes: { caps: ["CAP_SYS_ADMIN", "CAP_BPF"] } }),
      allow(["bpf"], { includes: { caps: ["CAP_BPF"] } }),
      refuse(["perf_event_open"], { excludes: { caps: ["CAP_SYS_ADMIN", "CAP_BPF"] } }),
      allow(["perf_event_open"], { includes: { caps: ["CAP_PERFMON"] } }),
      allow(["userfaultfd"]),
    ],
  };
}
