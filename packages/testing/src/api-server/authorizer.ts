/** A question to an {@link Authorizer}: may this be done? */
export interface AccessQuestion {
  readonly user: string;
  readonly groups: readonly string[];
  readonly verb: string;
  readonly namespace?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
  /** For requests that are not for a resource: `/metrics`. */
  readonly path?: string;
}

/** Decides who may do what. A string is a refusal with that reason. */
export type Authorizer = (question: AccessQuestion) => boolean | string;
