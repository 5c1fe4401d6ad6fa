import type { Credentials } from "./credentials.ts";
import type { MigrationSide } from "./identity.ts";

/** A file for `migrate_tls_x509_cert_dir` of libvirt's qemu.conf. */
export interface QemuTlsFile {
  readonly name: string;
  readonly content: string;
}

/**
 * The files that QEMU reads at the start of each migration, for one side of it. Write them for QEMU's user with
 * mode 0600; no daemon has to be restarted. The source names the migration's UID as `tls.destination`, which is
 * in the target's certificate.
 */
export function qemuTlsFiles(
  { certificate, privateKey, authorities }: Credentials,
  side: MigrationSide,
): QemuTlsFile[] {
  const end = side === "target" ? "server" : "client";
  return [
    { name: "ca-cert.pem", content: authorities },
    { name: `${end}-cert.pem`, content: certificate },
    { name: `${end}-key.pem`, content: privateKey },
  ];
}
