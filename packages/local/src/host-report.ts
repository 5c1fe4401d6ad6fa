import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isHostError } from "@virtkit/host-primitives";
import { ownCgroupLayout } from "@virtkit/host-primitives/cgroups";
import { findFirmware, firmwareHint } from "./host-firmware.ts";
import {
  emulator,
  findProgram,
  isExecutable,
  type ProgramState,
  programHints,
} from "./host-programs.ts";
import {
  type ControllerVersions,
  limitControllers,
  missingControllers,
} from "./limit-controllers.ts";
import { localArchitecture } from "./local-architecture.ts";
import { networkTable } from "./network-table.ts";
import { type KvmProof, proveKvm } from "./prove-kvm.ts";
import { proveLibvirtd, proveQemu } from "./prove-programs.ts";
import { tryTool } from "./run-tool.ts";

/** One requirement of VMIs on a host. */
export interface HostCheck {
  readonly name: string;
  /** `slow`: VMIs run without it, but slower. `optional`: only some VMIs need it. */
  readonly state: "ok" | "missing" | "slow" | "optional";
  readonly found: string;
  /** What to do, as a command if possible. Absent if all is well. */
  readonly fix?: string;
}

/** What {@link hostReport} looks at. */
export interface HostReportOptions {
  /** Tests KVM again even if the answer is remembered. */
  readonly again?: boolean;
}

const libraries = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";

/** Other programs that local mode runs, and their Debian packages. */
const programs: readonly (readonly [name: string, debian: string])[] = [
  ["virtlogd", "libvirt-daemon"],
  ["ip", "iproute2"],
  ["nft", "nftables"],
  ["unshare", "util-linux"],
  ["nsenter", "util-linux"],
  ["setpriv", "util-linux"],
  ["mount", "mount"],
  ["hostname", "hostname"],
];

/**
 * What this host can do for VMIs in local mode, and how to get what is missing. Changes nothing
 * except what it remembers about KVM; this takes some seconds if KVM hangs, and a second for
 * libvirtd.
 */
export async function hostReport(options: HostReportOptions = {}): Promise<readonly HostCheck[]> {
  const isRoot = process.getuid?.() === 0;
  return [
    nodeCheck(process.versions.node),
    check("root", isRoot, isRoot ? "yes" : "no", "run it again with: sudo -E"),
    startCheck("libvirtd", await proveLibvirtd(), programHints.libvirtd),
    startCheck(emulator, await proveQemu(), programHints.qemu),
    ...programs.map(([name, debian]) => programCheck(name, debian)),
    driverCheck(),
    await nftCheck(isRoot),
    tunCheck(readText("/proc/misc")),
    ...cgroupChecks(),
    memoryCheck(readText("/proc/meminfo")),
    ...firmwareChecks(),
    kvmCheck(await proveKvm(options)),
  ];
}

function check(name: string, ok: boolean, found: string, fix: string): HostCheck {
  return ok ? { name, state: "ok", found } : { name, state: "missing", found, fix };
}

/** Node is there; whether it is new enough is the question. */
export function nodeCheck(version: string): HostCheck {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return check("Node.js", ok, version, "install Node.js 20.19 or newer from https://nodejs.org");
}

/** A program that was seen to start. */
export function startCheck(name: string, { state, found }: ProgramState, hint: string): HostCheck {
  const fix = state === "broken" ? `repair it, or install it again (${hint})` : hint;
  return check(name, state === "ok", found, fix);
}

/** Firmware for guests that boot with EFI; the others do without. */
export function firmwareChecks(root = "/"): readonly HostCheck[] {
  return [false, true].map((secureBoot) => {
    const name = secureBoot ? "EFI with secure boot" : "EFI firmware";
    const found = findFirmware(localArchitecture, { secureBoot, root })?.code;
    if (found !== undefined) return { name, state: "ok", found };
    const fix = firmwareHint(localArchitecture);
    return { name, state: "optional", found: "not found: VMIs that ask for it are refused", fix };
  });
}

function programCheck(name: string, debian: string): HostCheck {
  const folders = [...(process.env["PATH"] ?? "").split(":"), ...systemFolders];
  const found = findProgram(name, folders);
  const path = found !== undefined && isExecutable(found) ? found : undefined;
  const fix = `apt-get install -y --no-install-recommends ${debian}`;
  return check(name, path !== undefined, path ?? "not found", fix);
}

const systemFolders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

function driverCheck(): HostCheck {
  const places = [`/usr/lib/${libraries}`, "/usr/lib64", "/usr/lib"].map((folder) =>
    join(folder, "libvirt/connection-driver/libvirt_driver_qemu.so"),
  );
  const path = places.find((place) => existsSync(place));
  const fix = "apt-get install -y --no-install-recommends libvirt-daemon-driver-qemu";
  return check("libvirt's QEMU driver", path !== undefined, path ?? "not found", fix);
}

async function nftCheck(isRoot: boolean): Promise<HostCheck> {
  const name = "nftables in the kernel";
  const fix = "modprobe -a nf_tables nft_chain_nat nft_masq nft_ct nft_fib_inet";
  if (!isRoot) return check(name, false, "only root can check this", "run it again with: sudo -E");
  // Only checked: rules need more of the kernel than tables do.
  const names = { nftTable: "virtkit_check", hostLink: "vkcheck" };
  const input = networkTable(names, { podAddress: "10.87.0.2" }, "isolated");
  const { code, stderr } = await tryTool("nft", ["--check", "-f", "-"], { input });
  return check(name, code === 0, code === 0 ? "works" : stderr.trim().slice(0, 200), fix);
}

/**
 * The kernel lists the devices that it has a driver for; the node itself is created in every
 * sandbox.
 */
export function tunCheck(misc: string): HostCheck {
  const ok = /^\s*\d+ tun$/m.test(misc);
  return check(
    "TAP devices",
    ok,
    ok ? "the kernel supports them" : "no tun driver",
    "modprobe tun",
  );
}

function cgroupChecks(): HostCheck[] {
  try {
    const layout = ownCgroupLayout();
    return [
      { name: "cgroups", state: "ok", found: layout.mode },
      limitsCheck(limitControllers(layout)),
    ];
  } catch (error) {
    if (!isHostError(error)) throw error;
    const fix = "mount -t cgroup2 none /sys/fs/cgroup";
    return [check("cgroups", false, error.message, fix)];
  }
}

/** The controllers without which limits of CPU, memory and processes would not hold. */
export function limitsCheck(found: ControllerVersions): HostCheck {
  const missing = missingControllers(found);
  const text = [
    ...Object.entries(found).map(([name, version]) => `${name} (v${version})`),
    ...missing.map(({ name }) => `no ${name}`),
  ].join(", ");
  return check("limits", missing.length === 0, text, missing.map(({ fix }) => fix).join("; "));
}

/** A small guest with its launcher needs about half of this. */
const minMemory = 1024;

/** How much memory new VMIs can get. */
export function memoryCheck(meminfo: string): HostCheck {
  const available = Math.floor(Number(/^MemAvailable:\s+(\d+)/m.exec(meminfo)?.[1] ?? 0) / 1024);
  const fix = "stop VMIs (virtkit ps, virtkit stop NAME) or other programs";
  return check("memory", available >= minMemory, `${available} MiB available`, fix);
}

/** KVM makes guests fast; without it they run in software. */
export function kvmCheck({ usable, reason }: KvmProof): HostCheck {
  if (usable) return { name: "KVM", state: "ok", found: reason };
  const fix = reason.startsWith("there is no /dev/kvm")
    ? "modprobe kvm_intel || modprobe kvm_amd; in a VM, turn on nested virtualisation"
    : "use another kernel or host; until then guests are emulated (--accel tcg)";
  return { name: "KVM", state: "slow", found: reason, fix };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // What the host does not show is reported as missing.
    return "";
  }
}
