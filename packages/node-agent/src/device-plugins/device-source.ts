/** A device that can be handed to one container. */
export interface PluginDevice {
  readonly id: string;
  /** An unhealthy one is withdrawn: the kubelet hands it to nobody. */
  readonly healthy: boolean;
  /** Its NUMA node, if known. */
  readonly numaNode?: number;
}

/** What a container gets with its devices. */
export interface Allocation {
  readonly nodes: readonly { readonly path: string; readonly permissions: string }[];
  readonly env: Readonly<Record<string, string>>;
}

/** Devices of one resource. */
export interface DeviceSource {
  /** The existing devices and their health; the same array as before says that nothing has changed. Never throws. */
  list(): readonly PluginDevice[];
  /** Throws if one of them does not exist. */
  allocate(ids: readonly string[]): Allocation;
  /** Directories where a change may mean that a device appeared or disappeared. */
  readonly directories: readonly string[];
}
