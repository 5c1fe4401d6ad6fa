import { sha256 } from "@virtkit/api/hash";

/** An object that the API server is to name. */
interface Unnamed {
  readonly metadata: { readonly name?: string; readonly generateName?: string };
}

/**
 * The object with a name that follows from what it is made for, in place of one that the API server would
 * draw: two controllers that make it collide.
 */
export function derivedName<T extends Unnamed>(object: T, seed: string): T {
  const { generateName = "", ...metadata } = object.metadata;
  const name = `${generateName}${sha256(seed).slice(0, 10)}`;
  return { ...object, metadata: { ...metadata, name } };
}
