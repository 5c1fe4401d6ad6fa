import { formatPath, type Path } from "../schema/index.ts";
import { isObject } from "../shape.ts";
import { quote } from "./cause.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from "./kubernetes-name.ts";

/** One fault of an object's metadata. */
export interface MetadataProblem {
  readonly path: Path;
  /** One sentence that begins with the field. */
  readonly message: string;
}

/**
 * What an API server refuses in the metadata of an object of any kind, before it calls a webhook: names, labels and
 * annotations that are not well-formed. Accepts a value of any shape; fields of the wrong type are the schema's business.
 */
export function metadataProblems(object: unknown): readonly MetadataProblem[] {
  const metadata = isObject(object) ? object["metadata"] : undefined;
  if (!isObject(metadata)) return [];
  const { name, namespace, labels, annotations } = metadata;
  return [
    ...problemsOf(["metadata", "name"], name, dnsSubdomainProblems),
    ...problemsOf(["metadata", "namespace"], namespace, dnsLabelProblems),
    ...entries(labels).flatMap(([key, value]) => [
      ...keyProblems("labels", key),
      ...problemsOf(["metadata", "labels", key], value, labelValueProblems),
    ]),
    // Keys of annotations are compared in lower case, so capital letters are fine before the slash as well.
    ...entries(annotations).flatMap(([key]) => keyProblems("annotations", key, key.toLowerCase())),
  ];
}

function problemsOf(
  path: Path,
  value: unknown,
  problems: (text: string) => readonly string[],
): readonly MetadataProblem[] {
  // An absent or empty name is filled in elsewhere, for example from generateName.
  if (typeof value !== "string" || value === "") return [];
  return problems(value).map((problem) => ({
    path,
    message: `${formatPath(path)} is ${quote(value)}; it ${problem}`,
  }));
}

function keyProblems(map: string, key: string, compared = key): readonly MetadataProblem[] {
  return qualifiedNameProblems(compared).map((problem) => ({
    path: ["metadata", map, key],
    message: `metadata.${map} has the key ${quote(key)}; it ${problem}`,
  }));
}

function entries(map: unknown): readonly (readonly [string, unknown])[] {
  return isObject(map) ? Object.entries(map) : [];
}
