import { parseManifests } from "@virtkit/node-agent/parse-manifests";

/** Something wrong at a line, counted from 1. */
export interface Problem {
  readonly line: number;
  readonly message: string;
}

/** A YAML text as an object that knows where its fields stand. */
export interface YamlObject {
  readonly value: unknown;
  /** The text itself cannot be read. */
  readonly problems: readonly Problem[];
  /** The line of a field, or of the nearest thing around it that is there. */
  lineOf(path: readonly (string | number)[]): number;
}

/** Reads one YAML object, as the command line reads it. Never throws. */
export function yamlObject(text: string): YamlObject {
  const { documents, problems } = parseManifests(text, "the text");
  const [document, second] = documents;
  const tooMany = second
    ? [{ ...second.position([]), message: "give one object; this is another" }]
    : [];
  // The first: what follows a fault is read wrongly, and faulty for that reason alone.
  const [first] = [...problems, ...tooMany];
  return {
    value: document?.value,
    problems: first ? [{ line: first.line, message: first.message }] : [],
    lineOf: (path) => document?.position(path).line ?? 1,
  };
}
