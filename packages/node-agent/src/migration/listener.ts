import type {
  MigrationNetworkType,
  VirtualMachineInstanceMigrationState,
} from "@virtkit/api/schema";

/** Where a target listens, and which of its QEMU's ports is behind which port of the node. */
export interface Listener {
  readonly address: string;
  readonly ports: Readonly<Record<string, number>>;
  /** Undefined if nobody knows. */
  readonly network?: MigrationNetworkType;
}

/** Where the target of this migration listens, by the VMI's status; undefined if that does not say. */
export function listenerOf(
  state: VirtualMachineInstanceMigrationState | undefined,
  migrationUID: string,
): Listener | undefined {
  const { targetNodeAddress: address, targetDirectMigrationNodePorts: ports } = state ?? {};
  if (state?.migrationUid !== migrationUID || !address || !ports) return undefined;
  return { address, ports };
}

/** Whether both are the same place; the kind of network does not matter. */
export function isSameListener(one: Listener | undefined, other: Listener | undefined): boolean {
  if (one?.address !== other?.address) return false;
  const [ports, others] = [one?.ports ?? {}, other?.ports ?? {}];
  const keys = Object.keys(ports);
  return (
    keys.length === Object.keys(others).length && keys.every((key) => ports[key] === others[key])
  );
}

/** The state of a migration with another place where its target listens. */
export function withListener(
  state: VirtualMachineInstanceMigrationState,
  { address, ports: behind, network }: Listener,
): VirtualMachineInstanceMigrationState {
  const ports = { ...behind };
  const { targetState } = state;
  return {
    ...state,
    targetNodeAddress: address,
    targetDirectMigrationNodePorts: ports,
    ...(network && { migrationNetworkType: network }),
    // The newer fields repeat the older ones, if there are any.
    ...(targetState && {
      targetState: { ...targetState, nodeAddress: address, directMigrationNodePorts: ports },
    }),
  };
}
