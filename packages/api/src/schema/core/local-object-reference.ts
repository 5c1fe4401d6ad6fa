import { object, type Schema, string, withRules } from "../schema.ts";

/** The name of an object in the same namespace. */
export interface LocalObjectReference {
  name?: string;
}

export const LocalObjectReferenceSchema: Schema<LocalObjectReference> =
  object<LocalObjectReference>(
    {
      name: withRules(string, { default: "" }),
    },
    { atomic: true },
  );
