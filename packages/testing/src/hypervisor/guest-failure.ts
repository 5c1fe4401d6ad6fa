import type { DomainManagerError, DomainManagerErrorCode } from "@virtkit/domain-manager";

/**
 * The error that the domain manager throws. Only its types are used here, so that a test needs none of its
 * code; `isDomainManagerError` knows it by its name.
 */
export function guestFailure(
  code: DomainManagerErrorCode,
  message: string,
  path?: string,
): DomainManagerError {
  return Object.assign(new Error(message), { name: "DomainManagerError" as const, code, path });
}
