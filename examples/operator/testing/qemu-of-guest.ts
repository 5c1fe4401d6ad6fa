import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { promisify } from "node:util";

/** A QEMU of a guest, wherever it runs. */
export interface QemuOfGuest {
  /** What it encrypts a migration with; empty where it does not. A target's libvirt does not answer before it is over. */
  migrationTls(): Promise<string>;
  /** Names of the files of a migration's certificate in its sandbox. */
  tlsFiles(): readonly string[];
}

/** All QEMUs of a guest. Nodes are namespaces: this host sees all processes. */
export function qemusOfGuest(namespace: string, name: string): readonly QemuOfGuest[] {
  const domain = `${namespace}_${name}`;
  return processes().flatMap((pid) => {
    const line = read(`/proc/${pid}/cmdline`);
    const isOwn = /^[^\0]*qemu-system/.test(line) && line.includes(`\0guest=${domain},`);
    return isOwn ? [qemu(pid, domain)] : [];
  });
}

function qemu(pid: string, domain: string): QemuOfGuest {
  const folder = `/proc/${pid}/root/run`;
  return {
    tlsFiles: () => readdirSync(`${folder}/kubevirt-private/migration-tls`).sort(),
    async migrationTls() {
      const uri = `qemu+unix:///session?socket=${folder}/libvirt/libvirt-sock`;
      const asked = JSON.stringify({ execute: "query-migrate-parameters" });
      const args = ["-c", uri, "qemu-monitor-command", domain, asked];
      const { stdout } = await promisify(execFile)("virsh", args);
      return String(JSON.parse(stdout).return["tls-creds"]);
    },
  };
}

const established = "01";

/** How many connections there are to a port, in all network namespaces of this host. */
export function connectionsTo(port: number): number {
  const seen = new Set<string>();
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
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

function readNamespace(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

/** Empty where the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
