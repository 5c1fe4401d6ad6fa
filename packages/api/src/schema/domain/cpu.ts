import {
  array,
  boolean,
  type Empty,
  object,
  required,
  type Schema,
  string,
  uint32,
} from "../schema.ts";

/** A CPU feature and its policy. */
export interface CPUFeature {
  name: string;
  /** `force`, `require`, `optional`, `disable` or `forbid`; `require` if absent. */
  policy?: string;
}

export const CPUFeatureSchema: Schema<CPUFeature> = object<CPUFeature>({
  name: required(string),
  policy: string,
});

/** Gives the guest the NUMA cells of the node CPUs that it is pinned to. */
export type NUMAGuestMappingPassthrough = Empty;

export const NUMAGuestMappingPassthroughSchema: Schema<NUMAGuestMappingPassthrough> =
  object<NUMAGuestMappingPassthrough>({});

/** How the guest's NUMA cells relate to those of the node. */
export interface NUMA {
  guestMappingPassthrough?: NUMAGuestMappingPassthrough;
}

export const NUMASchema: Schema<NUMA> = object<NUMA>({
  guestMappingPassthrough: NUMAGuestMappingPassthroughSchema,
});

/** Runs virtual CPUs with real-time priority. */
export interface Realtime {
  /** Which virtual CPUs, for example `0-3,^1`; all of them if absent. */
  mask?: string;
}

export const RealtimeSchema: Schema<Realtime> = object<Realtime>({
  mask: string,
});

/** CPUs of the guest: topology, model, features and placement. */
export interface CPU {
  /** Cores per socket. */
  cores?: number;
  /** Pins each virtual CPU to a CPU of the node that nobody else uses. */
  dedicatedCpuPlacement?: boolean;
  features?: CPUFeature[];
  /** Gives QEMU's own threads a CPU separate from the guest's. */
  isolateEmulatorThread?: boolean;
  /** The maximum number of sockets that can be plugged into the running guest. */
  maxSockets?: number;
  /** A libvirt CPU model, `host-model` or `host-passthrough`. */
  model?: string;
  numa?: NUMA;
  realtime?: Realtime;
  /** Can be raised while the guest runs, up to `maxSockets`. */
  sockets?: number;
  /** Threads per core. */
  threads?: number;
}

export const CPUSchema: Schema<CPU> = object<CPU>({
  cores: uint32,
  dedicatedCpuPlacement: boolean,
  features: array(CPUFeatureSchema),
  isolateEmulatorThread: boolean,
  maxSockets: uint32,
  model: string,
  numa: NUMASchema,
  realtime: RealtimeSchema,
  sockets: uint32,
  threads: uint32,
});

/** Sockets, cores and threads. */
export interface CPUTopology {
  cores?: number;
  sockets?: number;
  threads?: number;
}

export const CPUTopologySchema: Schema<CPUTopology> = object<CPUTopology>({
  cores: uint32,
  sockets: uint32,
  threads: uint32,
});
