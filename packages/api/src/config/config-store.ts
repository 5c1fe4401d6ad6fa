import type { KubeVirt, KubeVirtConfiguration } from "../schema/index.ts";
import { ClusterConfig } from "./cluster-config.ts";
import type { ConfigurationProblem } from "./configuration-problems.ts";
import {
  type ClusterConfigOptions,
  clusterConfig,
  readClusterConfig,
} from "./read-cluster-config.ts";

/** The result of a new configuration. */
export interface ConfigUpdate {
  /** The present configuration: the new one, or the last valid one. */
  readonly config: ClusterConfig;
  /** Whether the new one was applied. */
  readonly accepted: boolean;
  /** Why not; empty if it was. */
  readonly problems: readonly ConfigurationProblem[];
}

/**
 * The configuration of a running cluster, which is always valid. It starts with the defaults; an invalid update
 * leaves the last valid configuration in place.
 *
 * @example
 * ```ts
 * const store = new ConfigStore();
 * const { problems } = store.update(kubevirt);
 * for (const { message } of problems) log.warn(message);
 * store.current.gate("Snapshot");
 * ```
 */
export class ConfigStore {
  #current: ClusterConfig;
  readonly #options: ClusterConfigOptions;
  readonly #listeners = new Set<(config: ClusterConfig) => void>();

  constructor(options: ClusterConfigOptions = {}) {
    this.#options = options;
    this.#current = clusterConfig({}, options);
  }

  /** The last valid configuration. */
  get current(): ClusterConfig {
    return this.#current;
  }

  /** Applies a configuration if it is valid. Accepts any value; never throws. */
  update(source: KubeVirt | KubeVirtConfiguration): ConfigUpdate {
    const read = readClusterConfig(source, this.#options);
    if (!(read instanceof ClusterConfig)) {
      return { config: this.#current, accepted: false, problems: read };
    }
    this.#current = read;
    for (const listener of this.#listeners) listener(read);
    return { config: read, accepted: true, problems: [] };
  }

  /** Calls `listener` with every applied configuration; returns a function that unsubscribes it. */
  subscribe(listener: (config: ClusterConfig) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
