/** What went wrong, for programs. */
export type NetworkSetupErrorCode =
  | "NETWORK_ADDRESS_INVALID"
  | "NETWORK_BINDING_INVALID"
  | "NETWORK_CIDR_TOO_SMALL"
  | "NETWORK_DHCP_CONFIG_INVALID"
  | "NETWORK_DHCP_MESSAGE_INVALID"
  | "NETWORK_FAMILY_UNKNOWN"
  | "NETWORK_JOURNAL_INVALID"
  | "NETWORK_KERNEL_REFUSED"
  | "NETWORK_LINK_CONFLICT"
  | "NETWORK_LINK_MISSING"
  | "NETWORK_LINK_NAME_INVALID"
  | "NETWORK_MESSAGE_INVALID"
  | "NETWORK_NAT_REFUSED"
  | "NETWORK_POD_LINK_MISSING"
  | "NETWORK_ROUTE_MISSING"
  | "NETWORK_SPEC_INVALID";

/** Details of a {@link NetworkSetupError}. */
export interface NetworkSetupErrorOptions extends ErrorOptions {
  /** The field of the configuration, or the step of the wiring, that failed. */
  readonly path?: string;
  /** Whether a retry with the same VMI would fail again. Default: false. */
  readonly final?: boolean;
}

/** The one error class of this package. The message names what was found and what to do. */
export class NetworkSetupError extends Error {
  override readonly name = "NetworkSetupError";
  readonly code: NetworkSetupErrorCode;
  readonly path: string | undefined;
  /** Whether a retry with the same VMI would fail again. */
  readonly final: boolean;

  constructor(
    code: NetworkSetupErrorCode,
    message: string,
    { path, final = false, ...options }: NetworkSetupErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
    this.final = final;
  }
}

/** Whether a caught value is a {@link NetworkSetupError}; by name, so that two copies agree. */
export function isNetworkSetupError(value: unknown): value is NetworkSetupError {
  return value instanceof Error && value.name === "NetworkSetupError";
}
