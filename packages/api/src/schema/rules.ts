/**
 * What the API server checks of a value beyond its type, because the CRD says so.
 *
 * {@link check} looks at bounds, lengths, patterns and closed enums only when asked to (`rules`):
 * objects that were stored before a rule was added break it and are still read.
 */
export interface Rules {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  /** A regular expression that works in Go and in JavaScript alike. */
  readonly pattern?: string;
  /** No other string than the known ones is taken. */
  readonly closed?: true;
  /** What the API server fills in where the field is absent. Never filled in by {@link check}. */
  readonly default?: string | boolean | number;
  /** The API server keeps `null` as it is; otherwise it drops the field. */
  readonly nullable?: true;
  /** The API server keeps fields that it does not know. */
  readonly preserveUnknownFields?: true;
  /** The API server replaces the object as a whole on server-side apply. */
  readonly atomic?: true;
  /** Expressions in the Common Expression Language; only the API server runs them. */
  readonly validations?: readonly Validation[];
}

/** An expression that must be true, and what the API server says where it is not. */
export interface Validation {
  readonly rule: string;
  readonly message: string;
}
