import type { Names } from "@virtkit/api/names";
import type { Devices, DomainSpec, VirtualMachineInstance } from "@virtkit/api/schema";
import type { Architecture } from "./architecture/architecture.ts";
import type { CpuTopology } from "./compute/cpu-topology.ts";
import type { IoThreadPlan } from "./compute/io-thread-plan.ts";
import type { ConverterContext } from "./context.ts";
import type { LauncherPaths } from "./launcher-paths.ts";
import type { Domain } from "./model/domain.ts";

/** A conversion in progress: its inputs, what follows from them at once, and the domain. */
export interface Draft {
  readonly vmi: VirtualMachineInstance;
  /** `vmi.spec.domain`. */
  readonly spec: DomainSpec;
  /** `vmi.spec.domain.devices`. */
  readonly devices: Devices;
  readonly annotations: Readonly<Record<string, string>>;
  readonly context: ConverterContext;
  readonly names: Names;
  readonly paths: LauncherPaths;
  readonly architecture: Architecture;
  /** The requested sockets, cores and threads, without those that can be plugged in. */
  readonly topology: CpuTopology;
  readonly ioThreads: IoThreadPlan;
  /** Model of virtio devices: transitional or not, or neither without PCI. */
  readonly virtioModel: string;
  /** `on` if the guest's memory is encrypted, so that virtio devices must use its IOMMU. */
  readonly iommu: "on" | undefined;
  readonly domain: Domain;
}

/** Makes one device or concept of the domain. May throw a `ConverterError`; the draft must not be used then. */
export interface Configurator {
  readonly name: string;
  /** One sentence on what it makes, for explanations. */
  readonly summary: string;
  configure(draft: Draft): void;
}
