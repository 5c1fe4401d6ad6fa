/**
 * What the API server checks in a value in addition to its type, because the CRD says so.
 *
 * {@link check} looks at bounds, lengths, patterns and closed enums only on request (`rules`): objects that
 * were stored before a rule was added may break it but are still read.
 */
export interface Rules {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  /** A regular expression that works in both Go and JavaScript. */
  readonly pattern?: string;
  /** Only the known strings are accepted. */
  readonly closed?: true;
  /** The value that the API server fills in for a missing field. {@link check} never does. */
  readonly default?: string | boolean | number;
  /** The API server keeps `null`; otherwise it drops the field. */
  readonly nullable?: true;
  /** The API server keeps unknown fields. */
  readonly preserveUnknownFields?: true;
  /** The API server replaces the object as a whole on server-side apply. */
  readonly atomic?: true;
  /** Expressions in the Common Expression Language; only the API server evaluates them. */
  readonly validations?: readonly Validation[];
}

/** An expression that must be true, and the API server's message if it is not. */
export interface Validation {
  readonly rule: string;
  readonly message: string;
}
