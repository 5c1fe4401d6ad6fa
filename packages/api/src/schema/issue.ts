/** What kind of fault an {@link Issue} is. */
export type IssueCode =
  /** The value has the wrong JSON type. */
  | "type"
  /** A field that must be there is absent or `null`. */
  | "required"
  /** Strict only: there is no such field. */
  | "unknown-field"
  /** A time, a duration or a quantity that is not written as one. */
  | "format"
  /** A number that does not fit the field's width or sign. */
  | "range"
  /** Only where asked for: a bound, length, pattern or closed enum of the CRD. */
  | "rule"
  /** `apiVersion` and `kind` name nothing that this package knows. */
  | "unknown-kind"
  /** The object was not looked at to the end: it holds too many values. */
  | "too-large"
  /** Reading a property threw; the value is no plain data. */
  | "unreadable";

/** Steps from the root of an object to a value: field names and list indexes. */
export type Path = readonly (string | number)[];

/** One fault of an object. */
export interface Issue {
  readonly code: IssueCode;
  readonly path: Path;
  /** One sentence: the field, what was found, what is expected. Bounded in length. */
  readonly message: string;
}

const plainKey = /^[A-Za-z_$][\w$-]*$/;
const longestShown = 80;

/** A path as people write it: `spec.volumes[0].name`, `metadata.labels["a/b"]`; the root is `(root)`. */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!plainKey.test(step)) text += `[${quote(step)}]`;
    else text += text === "" ? shorten(step) : `.${shorten(step)}`;
  }
  return text === "" ? "(root)" : text;
}

/** A found value in a few words, cut where it is long: `the string "abc"`, `a list`. */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return `the string ${quote(value)}`;
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "boolean") return String(value);
  if (value === undefined) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A string in quotes, cut where it is long. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

function shorten(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}...` : text;
}
