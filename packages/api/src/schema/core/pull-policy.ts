import { type OpenEnum, openEnum, type Schema } from "../schema.ts";

/** When to pull an image. */
export type PullPolicy = OpenEnum<typeof PullPolicyValues>;
export const PullPolicyValues = ["Always", "IfNotPresent", "Never"] as const;
export const PullPolicySchema: Schema<PullPolicy> = openEnum(PullPolicyValues);
