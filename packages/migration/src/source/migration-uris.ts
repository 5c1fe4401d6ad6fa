import { type Names, names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** The ports of the target's QEMU; on the source each has a socket that leads there. */
export const migrationPorts = { memory: 49152, disks: 49153 } as const;

/** Where the source's QEMU sends to. */
export interface MigrationUris {
  readonly memory: string;
  readonly disks: string;
}

/** The sockets of the migration proxy in the source's launcher. */
export function migrationUris(
  { metadata }: VirtualMachineInstance,
  { sockets }: Pick<Names, "sockets"> = names(),
): MigrationUris {
  const uri = (port: number): string =>
    `unix://${sockets.migrationProxy(metadata?.uid ?? "", port)}`;
  return { memory: uri(migrationPorts.memory), disks: uri(migrationPorts.disks) };
}
