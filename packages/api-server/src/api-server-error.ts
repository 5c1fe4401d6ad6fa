/** What went wrong, for programs. */
export type ApiServerErrorCode =
  /** A body that is longer than the server reads. */
  | "API_SERVER_BODY_TOO_LONG"
  /** The client ended before its body was read. */
  | "API_SERVER_BODY_CUT_OFF"
  /** A review or a request took longer than it may. */
  | "API_SERVER_TOO_SLOW"
  /** The node agent cannot be reached, or is not the one that it should be. */
  | "API_SERVER_NODE_UNREACHABLE"
  /** An address that must not be dialed for a client. */
  | "API_SERVER_ADDRESS_REFUSED"
  /** What says who the front proxy is cannot be read. */
  | "API_SERVER_FRONT_PROXY_UNKNOWN"
  /** A Secret that holds something else. */
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
