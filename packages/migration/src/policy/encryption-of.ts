import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isBlockMigration } from "../is-block-migration.ts";

/** Who encrypts memory and disks on their way from node to node. */
export type Encryption =
  /** QEMU itself, from end to end. */
  | "qemu"
  /** The proxies of the node agents. */
  | "proxies"
  | "none";

/**
 * Who encrypts what is sent in the migration that a VMI is in. Something is always encrypted unless `disableTLS` is set. The
 * options that the controller has written for this migration count before the cluster's, so that both nodes read the same.
 * Where disks are copied QEMU cannot do it: libvirt refuses TLS for them over the sockets that a launcher has.
 */
export function encryptionOf(
  vmi: VirtualMachineInstance,
  { migrations }: ClusterConfig,
): Encryption {
  const own = vmi.status?.migrationState?.migrationConfiguration?.disableTLS;
  if ((own ?? migrations.disableTLS) === true) return "none";
  return isBlockMigration(vmi) ? "proxies" : "qemu";
}
