/** What somebody asks whether it may be done. */
export interface AccessQuestion {
  readonly user: string;
  readonly groups: readonly string[];
  readonly verb: string;
  readonly namespace?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
  /** Of what is no resource: `/metrics`. */
  readonly path?: string;
}

/** Who may do what. A text is a refusal with that reason. */
export type Authorizer = (question: AccessQuestion) => boolean | string;
