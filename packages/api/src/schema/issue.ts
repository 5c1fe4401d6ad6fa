/** The kind of an {@link Issue}. */
export type IssueCode =
  /** The value has the wrong JSON type. */
  | "type"
  /** A required field is absent or `null`. */
  | "required"
  /** Only in strict mode: the field is unknown. */
  | "unknown-field"
  /** A malformed time, duration or quantity. */
  | "format"
  /** A number that does not fit the field's width or sign. */
  | "range"
  /** Only on request: a bound, length, pattern or closed enum of the CRD. */
  | "rule"
  /** `apiVersion` and `kind` name no known kind. */
  | "unknown-kind"
  /** The object was not checked to the end: it has too many values. */
  | "too-large"
  /** Reading a property threw an error; the value is not plain data. */
  | "unreadable";

/** Steps from the root of an object to a value: field names and list indexes. */
export type Path = readonly (string | number)[];

/** One fault in an object. */
export interface Issue {
  readonly code: IssueCode;
  readonly path: Path;
  /** One sentence: the field, what was found, what is expected. Bounded in length. */
  readonly message: string;
}

const plainKey = /^[A-Za-z_$][\w$-]*$/;
const longestShown = 80;

/** A path in its usual form: `spec.volumes[0].name`, `metadata.labels["a/b"]`; the root is `(root)`. */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!plainKey.test(step)) text += `[${quote(step)}]`;
    else text += text === "" ? shorten(step) : `.${shorten(step)}`;
  }
  return text === "" ? "(root)" : text;
}

/** A found value in a few words, cut if it is long: `the string "abc"`, `a list`. */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return `the string ${quote(value)}`;
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "boolean") return String(value);
  if (value === undefined) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A quoted string, cut if it is long. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

function shorten(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}...` : text;
}
