/** A device that can be handed to one container. */
export interface PluginDevice {
  readonly id: string;
  /** One that is not is withdrawn: the kubelet gives it to nobody. */
  readonly healthy: boolean;
  /** The NUMA node that it is at, where that is known. */
  readonly numaNode?: number;
}

/** What a container gets with its devices. */
export interface Allocation {
  readonly nodes: readonly { readonly path: string; readonly permissions: string }[];
  readonly env: Readonly<Record<string, string>>;
}

/** Devices of one resource. */
export interface DeviceSource {
  /** Those that there are, and how they are. Never throws. */
  list(): readonly PluginDevice[];
  /** Throws where one of them is not there. */
  allocate(ids: readonly string[]): Allocation;
  /** Directories in which a change may mean that a device came or went. */
  readonly directories: readonly string[];
}
