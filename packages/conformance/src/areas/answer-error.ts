/** A request without an answer: KubeVirt crashes there, and the message says what is wrong. */
export class AnswerError extends Error {
  readonly code = "BATCH_NO_ANSWER";
  readonly path: string;

  constructor({ path, message }: { readonly path: string; readonly message: string }) {
    super(message);
    this.path = path;
  }
}
