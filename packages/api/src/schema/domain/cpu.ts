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

/** A processor feature and what is done about it. */
export interface CPUFeature {
  name: string;
  /** `force`, `require`, `optional`, `disable` or `forbid`; `require` if absent. */
  policy?: string;
}

export const CPUFeatureSchema: Schema<CPUFeature> = object<CPUFeature>({
  name: required(string),
  policy: string,
});

/** Gives the guest the NUMA cells of the node's processors that it is pinned to. */
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

/** Runs virtual processors with real-time priority. */
export interface Realtime {
  /** Which virtual processors, as `0-3,^1`; all of them if absent. */
  mask?: string;
}

export const RealtimeSchema: Schema<Realtime> = object<Realtime>({
  mask: string,
});

/** Processors of the guest: topology, model, features and placement. */
export interface CPU {
  /** Cores a socket. */
  cores?: number;
  /** Pins each virtual processor to one of the node's that nobody else uses. */
  dedicatedCpuPlacement?: boolean;
  features?: CPUFeature[];
  /** Gives QEMU's own threads a processor apart from the guest's. */
  isolateEmulatorThread?: boolean;
  /** Up to how many sockets can be plugged into the running guest. */
  maxSockets?: number;
  /** A libvirt CPU model, `host-model` or `host-passthrough`. */
  model?: string;
  numa?: NUMA;
  realtime?: Realtime;
  /** Can be raised while the guest runs, up to `maxSockets`. */
  sockets?: number;
  /** Threads a core. */
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
