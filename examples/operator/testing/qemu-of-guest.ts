import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { promisify } from "node:util";

/** A QEMU of a guest, wherever it runs. */
export interface QemuOfGuest {
  /** Its pid on this host. */
  readonly pid: string;
  /** The node that it is on. */
  readonly node: string;
  /** Nanoseconds that its vCPUs have run. */
  vcpuTime(): number;
  /** Whether its vCPUs are not stopped, or its guest has panicked. */
  isExecuting(): Promise<boolean>;
  /** Whether it sends its memory: all streams of the migration are open. */
  isCopying(): Promise<boolean>;
  /** Removes the limit from a slow migration. Returns whether it has none now, or copies nothing. */
  copyFast(): Promise<boolean>;
  /** How it encrypts a migration; empty if it does not. A target's libvirt answers only once the migration is over. */
  migrationTls(): Promise<string>;
  /** Names of the files of a migration's certificate in its sandbox. */
  tlsFiles(): readonly string[];
}

/** All QEMUs of a guest. Nodes are namespaces, so this host sees all processes. */
export function qemusOfGuest(namespace: string, name: string): readonly QemuOfGuest[] {
  const domain = `${namespace}_${name}`;
  return processes().flatMap((pid) => {
    const line = read(`/proc/${pid}/cmdline`);
    const isOwn = /^[^\0]*qemu-system/.test(line) && line.includes(`\0guest=${domain},`);
    return isOwn ? [qemu(pid, domain)] : [];
  });
}

/** The states of a migration in which QEMU still sends something, or will. */
const underWay: ReadonlySet<string> = new Set(["setup", "active", "pre-switchover", "device"]);

function qemu(pid: string, domain: string): QemuOfGuest {
  const folder = `/proc/${pid}/root/run`;
  const monitor = async (command: object): Promise<Record<string, unknown>> => {
    const uri = `qemu+unix:///session?socket=${folder}/libvirt/libvirt-sock`;
    const args = ["-c", uri, "qemu-monitor-command", domain, JSON.stringify(command)];
    const { stdout } = await promisify(execFile)("virsh", args, { timeout: 10_000 });
    return JSON.parse(stdout).return;
  };
  return {
    pid,
    node: /\/(node-\d+)\//.exec(read(`/proc/${pid}/cgroup`))?.[1] ?? "",
    vcpuTime: () => vcpuTime(pid),
    async isExecuting() {
      const { status } = await monitor({ execute: "query-status" });
      return status === "running" || status === "guest-panicked";
    },
    async isCopying() {
      const { status, ram } = await monitor({ execute: "query-migrate" });
      return status === "active" && Number(Object(ram).transferred) > 0;
    },
    async copyFast() {
      const { status } = await monitor({ execute: "query-migrate" });
      if (!underWay.has(String(status))) return true;
      const parameters = { "max-bandwidth": 1 << 30 };
      await monitor({ execute: "migrate-set-parameters", arguments: parameters });
      const now = await monitor({ execute: "query-migrate-parameters" });
      return now["max-bandwidth"] === parameters["max-bandwidth"];
    },
    tlsFiles: () => readdirSync(`${folder}/kubevirt-private/migration-tls`).sort(),
    async migrationTls() {
      return String((await monitor({ execute: "query-migrate-parameters" }))["tls-creds"]);
    },
  };
}

/** The run time of the threads that QEMU names after its vCPUs, from the kernel; 0 if it has ended. */
function vcpuTime(pid: string): number {
  let sum = 0;
  for (const thread of list(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`;
    if (!/^CPU \d+\//.test(read(`${folder}/comm`))) continue;
    sum += Number(read(`${folder}/schedstat`).split(" ")[0]);
  }
  return sum;
}

const established = "01";

/** How many connections there are to a port, by default of any address, in all network namespaces of this host. */
export function connectionsTo(port: number, address = ""): number {
  const seen = new Set<string>();
  const hex = (value: number, digits: number): string =>
    value.toString(16).toUpperCase().padStart(digits, "0");
  // The kernel shows the bytes of an IPv4 address in the order of the host.
  const bytes = address === "" ? [] : address.split(".").toReversed();
  const suffix = `${bytes.map((byte) => hex(Number(byte), 2)).join("")}:${hex(port, 4)}`;
  let found = 0;
  for (const pid of processes()) {
    const network = readNamespace(pid);
    if (network === undefined || seen.has(network)) continue;
    seen.add(network);
    const lines = ["tcp", "tcp6"].flatMap((name) => read(`/proc/${pid}/net/${name}`).split("\n"));
    found += lines.filter((line) => {
      const [, local, , state] = line.trim().split(/\s+/);
      return local?.endsWith(suffix) && state === established;
    }).length;
  }
  return found;
}

function processes(): readonly string[] {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid));
}

/** Empty if the process has ended. */
function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The first process of a Pod's container whose command line contains a word; undefined if there is none. */
export function firstProcessOf(podUid: string, word: string): number | undefined {
  return processOf(podUid, word, (pid) => /^NSpid:.*\s1$/m.test(read(`/proc/${pid}/status`)));
}

/** A process of a Pod whose command line contains a word; undefined if there is none. */
export function processOf(
  podUid: string,
  word: string,
  isWanted: (pid: string) => boolean = () => true,
): number | undefined {
  const found = processes().find(
    (pid) =>
      read(`/proc/${pid}/cgroup`).includes(podUid) &&
      read(`/proc/${pid}/cmdline`).includes(word) &&
      isWanted(pid),
  );
  return found === undefined ? undefined : Number(found);
}

function readNamespace(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

/** Empty if the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
