import { type Clock, realClock } from "@virtkit/api/clock";
import type { ClusterConfig } from "@virtkit/api/config";
import type { Observers } from "@virtkit/api/observe";
import { type DevicePlugin, startDevicePlugin } from "./device-plugin.ts";
import type { DeviceSource } from "./device-source.ts";
import { findHostDevices, type HostDevices } from "./host-devices.ts";
import { permittedDevices, planPermittedDevices } from "./permitted-devices.ts";
import { slotDevices } from "./slot-devices.ts";

/** What {@link startDevicePlugins} works with. */
export interface DevicePluginsOptions extends Observers {
  readonly config: ClusterConfig;
  /** The kubelet's device plug-in directory, as this process sees it. Default: its place on the node. */
  readonly directory?: string;
  /** The node's root, as this process sees it. Default `/`. */
  readonly root?: string;
  /** Containers that may share a device at once. Default 1,000. */
  readonly slots?: number;
  /** The node's devices. Default: what sysfs says. */
  readonly find?: () => HostDevices;
  readonly clock?: Clock;
  /** Called each time `ready` changes. Must not throw. */
  readonly onReady?: (ready: boolean) => void;
}

/** The device plug-ins of a node. Disposal withdraws all devices. */
export type DevicePlugins = AsyncDisposable & {
  /** Whether the kubelet knows all of them. */
  readonly ready: boolean;
  readonly resources: readonly string[];
  /** Applies a new configuration, and looks for devices again: plug-ins that are no longer needed end. */
  update(config: ClusterConfig): Promise<void>;
};

/** An offered resource; `key` shows whether it is unchanged. */
export interface WantedPlugin {
  readonly resource: string;
  readonly key: string;
  readonly source: () => DeviceSource;
}

/**
 * Which plug-ins a node has: always the hypervisor's device, `tun` and `vhost-net`; `vhost-vsock` and `sev` by
 * their feature gates; and the node's own devices that the configuration permits.
 */
export function planPlugins(
  config: ClusterConfig,
  found: HostDevices,
  { root = "/", slots = 1_000 }: { readonly root?: string; readonly slots?: number } = {},
): readonly WantedPlugin[] {
  const { devices } = config.names;
  const shared = (resource: string, path: string, openFirst = true): WantedPlugin => ({
    resource,
    key: path,
    source: () =>
      slotDevices({ name: resource.split("/").at(-1) ?? "", path, slots, root, openFirst }),
  });
  const hypervisor =
    config.hypervisor.name === "hyperv-direct"
      ? shared(`${devices.root}mshv`, "/dev/mshv", false)
      : shared(devices.kvm, "/dev/kvm", false);
  const permitted = planPermittedDevices(config.configuration.permittedHostDevices ?? {}, found);
  return [
    hypervisor,
    shared(devices.tun, "/dev/net/tun"),
    shared(devices.vhostNet, "/dev/vhost-net"),
    ...(config.gate("VSOCK") ? [shared(devices.vhostVsock, "/dev/vhost-vsock")] : []),
    ...(config.gate("WorkloadEncryptionSEV") ? [shared(devices.sev, "/dev/sev")] : []),
    ...permitted.map((planned) => ({
      resource: planned.resource,
      key: JSON.stringify(planned),
      source: () => permittedDevices(planned, root),
    })),
  ];
}

/** Starts the device plug-ins of a node. Returns immediately; `ready` says when the kubelet knows them. */
export function startDevicePlugins(options: DevicePluginsOptions): DevicePlugins {
  const plugins = new NodeDevicePlugins(options);
  void plugins.update(options.config);
  return plugins;
}

class NodeDevicePlugins implements DevicePlugins {
  readonly #options: DevicePluginsOptions;
  readonly #running = new Map<string, { readonly key: string; readonly plugin: DevicePlugin }>();
  #wasReady = false;
  #updates: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(options: DevicePluginsOptions) {
    this.#options = options;
  }

  get ready(): boolean {
    const all = [...this.#running.values()];
    return all.length > 0 && all.every(({ plugin }) => plugin.ready);
  }

  get resources(): readonly string[] {
    return [...this.#running.keys()];
  }

  update(config: ClusterConfig): Promise<void> {
    this.#updates = this.#updates.then(() => this.#change(config));
    return this.#updates;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    await this.#updates;
    const ending = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(ending.map(({ plugin }) => plugin[Symbol.asyncDispose]()));
  }

  async #change(config: ClusterConfig): Promise<void> {
    if (this.#ended) return;
    const { root = "/", slots = 1_000, find = () => findHostDevices(root) } = this.#options;
    const wanted = planPlugins(config, find(), { root, slots });
    const keys = new Map(wanted.map(({ resource, key }) => [resource, key]));
    for (const [resource, { key, plugin }] of this.#running) {
      if (keys.get(resource) === key) continue;
      this.#running.delete(resource);
      await plugin[Symbol.asyncDispose]();
    }
    for (const { resource, key, source } of wanted) {
      if (!this.#running.has(resource)) this.#start(config, resource, key, source());
    }
    this.#tell();
  }

  #start(config: ClusterConfig, resource: string, key: string, source: DeviceSource): void {
    const { directory = config.names.directories.devicePlugins, clock = realClock } = this.#options;
    const { log, metrics } = this.#options;
    const onReady = (): void => this.#tell();
    const plugin = startDevicePlugin({ directory, resource, source, clock, onReady, log, metrics });
    this.#running.set(resource, { key, plugin });
  }

  #tell(): void {
    if (this.ready === this.#wasReady) return;
    this.#wasReady = this.ready;
    this.#options.onReady?.(this.ready);
  }
}
