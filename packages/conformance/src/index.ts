export { batchAreas } from "./areas/areas.ts";
export type { BatchArea, BatchFunction } from "./batch/batch-area.ts";
export { type BatchOptions, runBatch } from "./batch/run-batch.ts";
