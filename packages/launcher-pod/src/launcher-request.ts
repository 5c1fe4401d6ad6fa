import type { ClusterConfig } from "@virtkit/api/config";
import type { Names } from "@virtkit/api/names";
import type { Quantity } from "@virtkit/api/quantity";
import type {
  Devices,
  DomainSpec,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  VirtualMachineInstanceStatus,
} from "@virtkit/api/schema";
import type { ClusterLookup } from "./cluster-lookup.ts";
import type { Explain } from "./explain.ts";
import type { HookSidecar } from "./hook-sidecars.ts";
import type { LauncherProfile } from "./launcher-profile.ts";

/**
 * Everything that a rendering step may read. Facts that several steps need are determined once, before the
 * first step.
 */
export interface LauncherRequest {
  readonly vmi: VirtualMachineInstance;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: VirtualMachineInstanceSpec;
  readonly domain: DomainSpec;
  readonly devices: Devices;
  readonly status: VirtualMachineInstanceStatus;
  readonly config: ClusterConfig;
  readonly lookup: ClusterLookup;
  readonly profile: LauncherProfile;
  /** The platform's labels, annotations and devices: those of the configuration. */
  readonly names: Names;
  /** Whether the compute container runs as the profile's user; if not, as root. */
  readonly nonRoot: boolean;
  /** Requests of helper containers must equal their limits; otherwise the Pod loses its QoS class. */
  readonly guaranteed: boolean;
  /** containerDisks are image volumes instead of containers that hold them open. */
  readonly imageVolumes: boolean;
  /** By volume: the image with its digest, if the source of a migration has shown it. */
  readonly pinnedImages: ReadonlyMap<string, string>;
  readonly sidecars: readonly HookSidecar[];
  /** The claim with the guest's persistent state; empty if it has none. */
  readonly stateClaim: string;
  /** The Pod only makes its volumes bind; no guest runs in it. */
  readonly temporary: boolean;
  readonly logVerbosity: number;
  /** Memory that the guest needs in addition to what it sees. */
  readonly memoryOverhead: Quantity;
  readonly explain: Explain | undefined;
}
