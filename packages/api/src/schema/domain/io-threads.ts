import { object, type Schema, uint32 } from "../schema.ts";

/** Threads that serve disks, separate from the vCPU threads. */
export interface DiskIOThreads {
  /** How many threads there are, for the policy `supplementalPool`. */
  supplementalPoolThreadCount?: number;
}

export const DiskIOThreadsSchema: Schema<DiskIOThreads> = object<DiskIOThreads>({
  supplementalPoolThreadCount: uint32,
});
