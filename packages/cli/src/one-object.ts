import { type ManifestDocument, readManifests } from "@virtkit/node-agent/manifests";
import type { Io } from "./io.ts";
import { place } from "./place.ts";
import { UsageError } from "./usage-error.ts";

/** The fields of an unknown object. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * The single object in the file of an option. Throws if there is none or more than one, or if it is not an
 * object, with the place and with `wanted`: what to pass instead.
 */
export async function readOneObject(
  option: string,
  file: string,
  wanted: string,
  io: Io,
): Promise<ManifestDocument & { readonly value: Fields }> {
  const { documents, problems } = await readManifests([file], io);
  const [problem] = problems;
  if (problem) throw new Error(`${place(problem)}: ${problem.message}`);
  const [document, second] = documents;
  if (!document || second) {
    const found = `${documents.length} objects`;
    throw new UsageError(`${option} ${file}: the file must contain one object, not ${found}`);
  }
  return { ...document, value: fieldsOf(document, wanted) };
}

/** The value of a document, which must be an object; throws with its place and what to pass instead. */
export function fieldsOf(document: ManifestDocument, wanted: string): Fields {
  const { source, value } = document;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isObject) return value as Fields;
  const at = place({ source, ...document.position([]) });
  throw new Error(`${at}: found ${shown(value)}; give ${wanted}`);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return `the ${typeof value} ${text.length > 80 ? `${text.slice(0, 80)}...` : text}`;
}
