import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  libvirtdConfig,
  libvirtdEnvironment,
  libvirtdHome,
  qemuConfig,
  virtlogdConfig,
  writeLibvirtdFiles,
} from "./libvirtd-files.ts";

function temporary(): string {
  const path = mkdtempSync(join(tmpdir(), "virtkit-home-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("libvirt's directories are those of the Pod's environment, or KubeVirt's", () => {
  expect(libvirtdHome({}, "/p")).toMatchObject({
    socket: "/var/run/libvirt/libvirt-sock",
    config: "/p",
    cache: "/p",
  });
  const home = libvirtdHome({ XDG_RUNTIME_DIR: "/r", XDG_CONFIG_HOME: "/c" }, "/p");
  expect(home).toMatchObject({ socket: "/r/libvirt/libvirt-sock", config: "/c", cache: "/p" });
  expect(Object.keys(libvirtdEnvironment(home)).sort()).toEqual(
    "HOME PATH XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR".split(" "),
  );
});

test("output of guest and QEMU goes into files of limited size", () => {
  expect(qemuConfig()).toContain('stdio_handler = "logd"\n');
  expect(virtlogdConfig()).toContain("max_size = 2097152\nmax_backups = 3\n");
});

test("only the launcher's user reaches libvirt, and QEMU has no cgroups of its own", () => {
  const config = libvirtdConfig("u", { libvirtLogFilters: '1:qemu "x"' });
  expect(config).toContain("listen_tcp = 0\n");
  expect(config).toContain('unix_sock_rw_perms = "0700"\n');
  expect(config).toContain('log_filters = "1:qemu \\"x\\""\n');
  expect(qemuConfig()).toContain("cgroup_controllers = []\n");
  expect(qemuConfig()).not.toContain("shared_filesystems");
  expect(qemuConfig({ sharedFilesystems: ["/a", "/b"] })).toContain(
    'shared_filesystems = ["/a","/b"]\n',
  );
});

test("QEMU takes a migration's certificate from a folder that only its user can read, and requires one of its peer", async () => {
  const root = temporary();
  const home = libvirtdHome({ XDG_RUNTIME_DIR: `${root}/run` }, `${root}/private`);
  const migrationTls = `${root}/private/tls`;
  const options = { libvirtLogFilters: undefined, capabilitiesCache: undefined };
  await writeLibvirtdFiles(home, options, { migrationTls });
  const written = readFileSync(`${root}/private/libvirt/qemu.conf`, "utf8");
  expect(written).toContain(`migrate_tls_x509_cert_dir = "${migrationTls}"\n`);
  expect(written).toContain("migrate_tls_x509_verify = 1\n");
  expect(statSync(migrationTls).mode & 0o777).toBe(0o700);
  expect(qemuConfig()).not.toContain("tls");
});

test("writes the files repeatedly without changing the host UUID", async () => {
  const root = temporary();
  const seed = join(root, "seed");
  mkdirSync(seed);
  writeFileSync(join(seed, "abc.xml"), "probed");
  const home = libvirtdHome({ XDG_RUNTIME_DIR: `${root}/run` }, `${root}/private`);
  const options = { libvirtLogFilters: undefined, capabilitiesCache: seed };
  await writeLibvirtdFiles(home, options);
  const file = `${root}/private/libvirt/libvirtd.conf`;
  const before = readFileSync(file, "utf8");
  await writeLibvirtdFiles(home, options);
  expect(readFileSync(file, "utf8")).toBe(before);
  expect(before).toMatch(/^host_uuid = "[0-9a-f-]{36}"$/m);
  const cache = `${root}/private/libvirt/qemu/cache/capabilities/abc.xml`;
  expect(readFileSync(cache, "utf8")).toBe("probed");
});

test("a missing folder of capabilities only costs time", async () => {
  const root = temporary();
  const home = libvirtdHome({ XDG_RUNTIME_DIR: `${root}/run` }, `${root}/private`);
  await writeLibvirtdFiles(home, {
    libvirtLogFilters: undefined,
    capabilitiesCache: "/nowhere",
  });
  expect(readFileSync(`${root}/private/libvirt/qemu.conf`, "utf8")).toContain("namespaces = []");
});
