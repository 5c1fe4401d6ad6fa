import { object, required, type Schema, string } from "../schema.ts";

/** An object of any kind in the same namespace. */
export interface TypedLocalObjectReference {
  apiGroup?: string;
  kind: string;
  name: string;
}

export const TypedLocalObjectReferenceSchema: Schema<TypedLocalObjectReference> =
  object<TypedLocalObjectReference>(
    {
      apiGroup: string,
      kind: required(string),
      name: required(string),
    },
    { atomic: true },
  );

/** An object of any kind, possibly in another namespace. */
export interface TypedObjectReference {
  apiGroup?: string;
  kind: string;
  name: string;
  namespace?: string;
}

export const TypedObjectReferenceSchema: Schema<TypedObjectReference> =
  object<TypedObjectReference>({
    apiGroup: string,
    kind: required(string),
    name: required(string),
    namespace: string,
  });
