import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { realRandom } from "@virtkit/api/random";
import type { LauncherOptions } from "./launcher-options.ts";

/** The directories of a libvirtd in session mode, by its environment variables. */
export interface LibvirtdHome {
  readonly runtime: string;
  readonly cache: string;
  readonly config: string;
  readonly data: string;
  readonly socket: string;
  readonly pidFile: string;
}

/** The places that the Pod's environment names, or KubeVirt's. */
export function libvirtdHome(
  env: Readonly<Record<string, string | undefined>>,
  privateDirectory: string,
): LibvirtdHome {
  const runtime = env["XDG_RUNTIME_DIR"] || "/var/run";
  return {
    runtime,
    cache: env["XDG_CACHE_HOME"] || privateDirectory,
    config: env["XDG_CONFIG_HOME"] || privateDirectory,
    data: env["XDG_DATA_HOME"] || `${privateDirectory}/data`,
    socket: `${runtime}/libvirt/libvirt-sock`,
    pidFile: `${runtime}/libvirt/libvirtd.pid`,
  };
}

/** The environment of libvirtd and QEMU: nothing of the launcher's own. */
export function libvirtdEnvironment(home: LibvirtdHome): Record<string, string> {
  return {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: home.data,
    XDG_RUNTIME_DIR: home.runtime,
    XDG_CACHE_HOME: home.cache,
    XDG_CONFIG_HOME: home.config,
    XDG_DATA_HOME: home.data,
  };
}

/** `libvirtd.conf`: no systemd, no network, one user on a private socket. */
export function libvirtdConfig(
  hostUuid: string,
  { libvirtLogFilters }: Pick<LauncherOptions, "libvirtLogFilters">,
): string {
  return settings({
    listen_tls: 0,
    listen_tcp: 0,
    auth_unix_rw: "none",
    auth_unix_ro: "none",
    unix_sock_rw_perms: "0700",
    log_level: 3,
    log_outputs: "1:stderr",
    ...(libvirtLogFilters === undefined ? {} : { log_filters: libvirtLogFilters }),
    audit_level: 0,
    // The default of 5 would let blocked calls to the guest agent hold up everything else.
    max_client_requests: 20,
    // Two daemons with the same one refuse to move a guest between them.
    host_uuid: hostUuid,
  });
}

/**
 * `virtlogd.conf`. Everything that a guest writes to its serial console, and QEMU to its standard
 * error, goes through this daemon into files that are rotated: a guest that writes without end
 * fills four of them and no more. libvirtd starts it when a guest starts; it outlives libvirtd and
 * the launcher, so that nothing is lost with them.
 */
export function virtlogdConfig(): string {
  return settings({
    log_level: 3,
    log_outputs: "3:stderr",
    max_size: logFileBytes,
    max_backups: logFileBackups,
  });
}

/** Size at which a log file is rotated, and how many older ones are kept: libvirt's own defaults. */
export const logFileBytes: number = 2 * 1024 * 1024;
export const logFileBackups = 3;

/** Folders that `qemu.conf` names. */
export interface QemuFolders {
  /** File systems that all nodes see. */
  readonly sharedFilesystems?: readonly string[];
  /**
   * Where the node agent puts a migration's certificate while it runs. Default: no migration is
   * encrypted.
   */
  readonly migrationTls?: string;
}

/**
 * `qemu.conf`: libvirt does not repeat what the Pod already does. No cgroups or namespaces of its
 * own.
 */
export function qemuConfig({ sharedFilesystems = [], migrationTls }: QemuFolders = {}): string {
  return settings({
    // Otherwise QEMU writes the files itself, and they grow without limit.
    stdio_handler: "logd",
    security_driver: "none",
    namespaces: [],
    cgroup_controllers: [],
    max_core: 0,
    // With it QEMU of an unprivileged libvirtd may keep what post-copy needs.
    clear_emulator_capabilities: 0,
    seccomp_sandbox: 1,
    remember_owner: 0,
    migration_address: "0.0.0.0",
    // QEMU reads the files when a migration begins; a target asks its source for a certificate, too.
    ...(migrationTls === undefined
      ? {}
      : { migrate_tls_x509_cert_dir: migrationTls, migrate_tls_x509_verify: 1 }),
    ...(sharedFilesystems.length > 0 ? { shared_filesystems: sharedFilesystems } : {}),
  });
}

function settings(values: Readonly<Record<string, string | number | readonly string[]>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
    .join("");
}

/**
 * Creates the folders and the configuration of libvirtd. Safe to repeat: a host UUID that was
 * chosen once stays. Cached capabilities of QEMU are copied unless they exist; an unreadable folder
 * costs seconds, not the start.
 */
export async function writeLibvirtdFiles(
  home: LibvirtdHome,
  options: Pick<LauncherOptions, "libvirtLogFilters" | "capabilitiesCache">,
  folders: QemuFolders = {},
): Promise<void> {
  const config = `${home.config}/libvirt`;
  for (const path of [
    `${home.runtime}/libvirt`,
    `${home.cache}/libvirt/qemu/cache`,
    config,
    home.data,
  ]) {
    await mkdir(path, { recursive: true });
  }
  // libvirtd does not start if it is missing. Only QEMU's own user has anything to read there.
  if (folders.migrationTls) await mkdir(folders.migrationTls, { recursive: true, mode: 0o700 });
  await copyCapabilities(
    `${home.cache}/libvirt/qemu/cache/capabilities`,
    options.capabilitiesCache,
  );
  const uuid = await hostUuid(`${config}/libvirtd.conf`);
  await replace(`${config}/libvirtd.conf`, libvirtdConfig(uuid, options));
  await replace(`${config}/virtlogd.conf`, virtlogdConfig());
  await replace(`${config}/qemu.conf`, qemuConfig(folders));
}

async function hostUuid(configFile: string): Promise<string> {
  // At the first start there is none.
  const before = await readFile(configFile, "utf8").catch(() => "");
  return /^host_uuid = "([0-9a-f-]{36})"$/m.exec(before)?.[1] ?? realRandom.uuid();
}

async function copyCapabilities(target: string, source: string | undefined): Promise<void> {
  if (source === undefined) return;
  // It costs seconds, as said above: libvirt then asks QEMU itself.
  await cp(source, target, { recursive: true, force: false }).catch(() => {});
}

async function replace(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  await writeFile(fresh, text, { mode: 0o600 });
  await rename(fresh, path);
}
