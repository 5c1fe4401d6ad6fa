import type { Schema } from "./schema.ts";

/** A number, or the name of one, for example a port. */
export type IntOrString = number | string;

export const IntOrStringSchema: Schema<IntOrString> = { kind: "int-or-string" };
