/** What went wrong, for programs. */
export type NetworkSetupErrorCode =
  | "NETWORK_ADDRESS_INVALID"
  | "NETWORK_CIDR_TOO_SMALL"
  | "NETWORK_DHCP_CONFIG_INVALID"
  | "NETWORK_DHCP_MESSAGE_INVALID";

/** Details of a {@link NetworkSetupError}. */
export interface NetworkSetupErrorOptions extends ErrorOptions {
  /** The field of the configuration, or the step of the wiring, that it is about. */
  readonly path?: string;
}

/** The one error class of this package. The message names what was found and what to do. */
export class NetworkSetupError extends Error {
  override readonly name = "NetworkSetupError";
  readonly code: NetworkSetupErrorCode;
  readonly path: string | undefined;

  constructor(
    code: NetworkSetupErrorCode,
    message: string,
    { path, ...options }: NetworkSetupErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
  }
}

/** Whether a caught value is a {@link NetworkSetupError}; by name, so that two copies agree. */
export function isNetworkSetupError(value: unknown): value is NetworkSetupError {
  return value instanceof Error && value.name === "NetworkSetupError";
}
