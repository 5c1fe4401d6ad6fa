import { parseManifests } from "@virtkit/node-agent/parse-manifests";

/** A fault at a line, counted from 1. */
export interface Problem {
  readonly line: number;
  readonly message: string;
}

/** A YAML text as an object that knows where its fields stand. */
export interface YamlObject {
  readonly value: unknown;
  /** The text itself cannot be read. */
  readonly problems: readonly Problem[];
  /** The line of a field, or of the nearest existing parent. */
  lineOf(path: readonly (string | number)[]): number;
}

/** Reads one YAML object, as the command line does. Never throws. */
export function yamlObject(text: string): YamlObject {
  const { documents, problems } = parseManifests(text, "the text");
  const [document, second] = documents;
  const tooMany = second
    ? [{ ...second.position([]), message: "the text must contain one object; this is another one" }]
    : [];
  // The first: what follows a fault is misread, and faulty only for that reason.
  const [first] = [...problems, ...tooMany];
  return {
    value: document?.value,
    problems: first ? [{ line: first.line, message: first.message }] : [],
    lineOf: (path) => document?.position(path).line ?? 1,
  };
}
