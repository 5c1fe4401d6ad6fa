import type { LibvirtdOptions } from "./libvirtd-options.ts";

/** `libvirtd.conf`: no systemd, no authentication on the private socket, everything logged to a file. */
export function libvirtdConfig(
  directory: string,
  hostUuid: string,
  { maxClientRequests, tcpPort, tls }: LibvirtdOptions,
): string {
  return settings({
    listen_tcp: tcpPort === undefined ? 0 : 1,
    listen_tls: tls === undefined ? 0 : 1,
    ...(tcpPort === undefined ? {} : { tcp_port: String(tcpPort), auth_tcp: "none" }),
    ...(tls === undefined
      ? {}
      : {
          tls_port: String(tls.port),
          auth_tls: "none",
          ca_file: tls.ca,
          cert_file: tls.certificate,
          key_file: tls.key,
        }),
    listen_addr: "127.0.0.1",
    auth_unix_rw: "none",
    auth_unix_ro: "none",
    unix_sock_rw_perms: "0700",
    log_level: 3,
    log_outputs: `1:file:${directory}/libvirtd.log`,
    audit_level: 0,
    max_clients: 200,
    ...(maxClientRequests === undefined ? {} : { max_client_requests: maxClientRequests }),
    // Two daemons on one host must differ, or libvirt refuses to migrate between them.
    host_uuid: hostUuid,
  });
}

/** `qemu.conf`: without virtlogd, cgroups and security drivers, none of which exist in the sandbox. */
export function qemuConfig(): string {
  return settings({
    stdio_handler: "file",
    security_driver: "none",
    max_core: 0,
    clear_emulator_capabilities: 0,
    seccomp_sandbox: 1,
    // libvirt refuses an address of the host itself here, even where the network is only lo.
    migration_address: "0.0.0.0",
    namespaces: [],
    cgroup_controllers: [],
  });
}

function settings(values: Readonly<Record<string, string | number | readonly string[]>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
    .join("");
}
