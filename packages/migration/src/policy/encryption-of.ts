import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isBlockMigration } from "../is-block-migration.ts";

/** Who encrypts memory and disks between the nodes. */
export type Encryption =
  /** QEMU itself, end to end. */
  | "qemu"
  /** The proxies of the node agents. */
  | "proxies"
  | "none";

/**
 * Who encrypts the data of a VMI's migration. Data is always encrypted unless `disableTLS` is set. The options that
 * the controller wrote for this migration take precedence over the cluster's, so that both nodes read the same.
 * QEMU cannot encrypt when disks are copied: libvirt refuses TLS for them over a launcher's sockets.
 */
export function encryptionOf(
  vmi: VirtualMachineInstance,
  { migrations }: ClusterConfig,
): Encryption {
  const own = vmi.status?.migrationState?.migrationConfiguration?.disableTLS;
  if ((own ?? migrations.disableTLS) === true) return "none";
  return isBlockMigration(vmi) ? "proxies" : "qemu";
}
