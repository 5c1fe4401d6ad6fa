import type { Schema } from "./schema.ts";

/**
 * A Kubernetes quantity as it stands in a manifest: `"2Gi"`, `"500m"`, `3`.
 *
 * A number must be whole, as the API server has it; a fraction is written as a string.
 */
export type QuantityInput = string | number;

export const QuantityInputSchema: Schema<QuantityInput> = { kind: "quantity" };
