import type { Schema } from "./schema.ts";

/** A number, or the name of one: a port, say. */
export type IntOrString = number | string;

export const IntOrStringSchema: Schema<IntOrString> = { kind: "int-or-string" };
