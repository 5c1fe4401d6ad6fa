import { type OpenEnum, openEnum, type Schema } from "../schema.ts";

/** When an image is fetched. */
export type PullPolicy = OpenEnum<typeof PullPolicyValues>;
export const PullPolicyValues = ["Always", "IfNotPresent", "Never"] as const;
export const PullPolicySchema: Schema<PullPolicy> = openEnum(PullPolicyValues);
