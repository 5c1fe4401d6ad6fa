import { sha256 } from "@virtkit/api/hash";

/** An object whose name the API server would generate. */
interface Unnamed {
  readonly metadata: { readonly name?: string; readonly generateName?: string };
}

/**
 * The object with a name derived from what it is made for, instead of one that the API server
 * generates: two controllers that create it collide.
 */
export function derivedName<T extends Unnamed>(object: T, seed: string): T {
  const { generateName = "", ...metadata } = object.metadata;
  const name = `${generateName}${sha256(seed).slice(0, 10)}`;
  return { ...object, metadata: { ...metadata, name } };
}
