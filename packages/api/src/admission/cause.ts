import { isSet } from "../shape.ts";

/** Why a field was refused; the names are those of Kubernetes' `metav1.CauseType`. */
export type CauseReason =
  | "FieldValueInvalid"
  | "FieldValueRequired"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueNotFound"
  | "FieldValueForbidden";

/** One thing that is wrong with a request: `metav1.StatusCause` of Kubernetes. */
export interface Cause {
  /** Absent if the object does not match its schema. */
  readonly reason?: CauseReason;
  /** For people: the field, what was found, what is allowed, and the fix. */
  readonly message: string;
  /**
   * The field, always set. Programs match on it, so KubeVirt's odd paths are kept; where KubeVirt gives none
   * ({@link isFieldOurs}) it is the field that the message starts with.
   */
  readonly field: string;
}

const withOwnField = new WeakSet<Cause>();

/** Whether KubeVirt reports such a cause without a field; for programs that compare the two. */
export function isFieldOurs(cause: Cause): boolean {
  return withOwnField.has(cause);
}

/** A cause for which KubeVirt gives no field. */
export function ownField(cause: Cause): Cause {
  withOwnField.add(cause);
  return cause;
}

/** The result of a rule that finds nothing; shared, so that a valid object allocates nothing. */
export const fine: readonly Cause[] = [];

/**
 * Makes the list with one cause.
 *
 * `text` continues a sentence that starts with the field. `subject` replaces the field in that sentence where
 * the reported path misleads; `field` may be `undefined` where KubeVirt gives none: it is then the field that
 * the text starts with.
 */
type CauseMaker = (field: string | undefined, text: string, subject?: string) => readonly Cause[];

function maker(reason: CauseReason): CauseMaker {
  return (field, text, subject = field) => {
    const message = subject === undefined ? text : `${subject} ${text}`;
    if (field) return [{ reason, message, field }];
    const [first = message] = message.split(" ", 1);
    return [ownField({ reason, message, field: first })];
  };
}

/** The value cannot be accepted. */
export const invalid: CauseMaker = maker("FieldValueInvalid");
/** A value is missing. */
export const required: CauseMaker = maker("FieldValueRequired");
/** The value is well formed but not supported or not permitted. */
export const notSupported: CauseMaker = maker("FieldValueNotSupported");
/** Another element already has the value. */
export const duplicate: CauseMaker = maker("FieldValueDuplicate");
/** The value names something that does not exist. */
export const notFound: CauseMaker = maker("FieldValueNotFound");
/** The value may not be set in this situation, or not by this user. */
export const forbidden: CauseMaker = maker("FieldValueForbidden");

/** The causes of several rules in one list; allocates nothing if there are none. */
export function join(...lists: readonly (readonly Cause[])[]): readonly Cause[] {
  let found: Cause[] | undefined;
  for (const list of lists) {
    if (list.length === 0) continue;
    found ??= [];
    for (const cause of list) found.push(cause);
  }
  return found ?? fine;
}

/** The causes of a rule for each item in one list; allocates nothing if there are none. */
export function each<T>(
  items: readonly T[] | undefined,
  rule: (item: T, index: number) => readonly Cause[],
): readonly Cause[] {
  if (items === undefined) return fine;
  let found: Cause[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const causes = rule(items[i] as T, i);
    if (causes.length === 0) continue;
    found ??= [];
    for (const cause of causes) found.push(cause);
  }
  return found ?? fine;
}

const longestQuote = 80;

/** A value in a message: as JSON, and cut, because a message must not echo megabytes. */
export function quote(value: unknown): string {
  if (typeof value === "string" && value.length > longestQuote) {
    return `${JSON.stringify(value.slice(0, longestQuote))}… (${value.length} characters)`;
  }
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > longestQuote + 2 ? `${text.slice(0, longestQuote)}…` : text;
}

/** A list of alternatives in a message. */
export function oneOf(values: Iterable<string>): string {
  return [...values].map((value) => (value === "" ? "(empty)" : value)).join(", ");
}

/** How many of the given optional fields are set. */
export function countSet(...values: readonly unknown[]): number {
  let count = 0;
  for (const value of values) if (isSet(value)) count++;
  return count;
}
