/** What went wrong, for programs. */
export type ApiServerErrorCode =
  /** The body is longer than the server accepts. */
  | "API_SERVER_BODY_TOO_LONG"
  /** The client ended before its body was read. */
  | "API_SERVER_BODY_CUT_OFF"
  /** A review or a request took too long. */
  | "API_SERVER_TOO_SLOW"
  /** The node agent cannot be reached, or is not the right one. */
  | "API_SERVER_NODE_UNREACHABLE"
  /** The address must not be dialled for a client. */
  | "API_SERVER_ADDRESS_REFUSED"
  /** The description of the front proxy cannot be read. */
  | "API_SERVER_FRONT_PROXY_UNKNOWN"
  /** A Secret holds something else. */
  | "API_SERVER_SECRET_INVALID";

/** The one error class of this package. */
export class ApiServerError extends Error {
  override readonly name = "ApiServerError";
  readonly code: ApiServerErrorCode;

  constructor(code: ApiServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a caught value is an {@link ApiServerError}; by name, so that two copies of this package agree. */
export function isApiServerError(value: unknown): value is ApiServerError {
  return value instanceof Error && value.name === "ApiServerError";
}
