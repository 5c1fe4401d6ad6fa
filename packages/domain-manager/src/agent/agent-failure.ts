import { DomainManagerError } from "../domain-manager-error.ts";
import { isLibvirtError, type LibvirtError } from "../libvirt/libvirt-error.ts";
import { agentError, printable } from "./agent-reply.ts";

/**
 * The most characters of a guest's own message. A longer one is not repeated at all: half of a
 * secret is still a secret.
 */
const messageLimit = 4096;

/** The error for a guest agent command that failed. */
export function agentFailure(command: string, error: unknown): DomainManagerError {
  if (!isLibvirtError(error)) return agentError(command, "it could not be asked", error);
  switch (error.code) {
    case "LIBVIRT_REMOTE":
      return refused(command, error);
    case "LIBVIRT_TIMEOUT":
      return agentError(command, `silence; ${check}`, error);
    case "LIBVIRT_ABORTED":
      return failure("DOMAIN_TIMEOUT", command, "the caller gave up waiting", error);
    default:
      return failure("DOMAIN_LIBVIRT", command, error.message, error);
  }
}

const check = "check in the guest whether qemu-guest-agent runs";

function refused(command: string, error: LibvirtError): DomainManagerError {
  const message = repeated(error.remote?.message ?? "");
  switch (error.remote?.codeName) {
    case "noDomain":
      return failure("DOMAIN_MISSING", command, "libvirt has no such domain", error);
    case "operationInvalid":
      return failure("DOMAIN_STATE", command, message, error);
    case "agentUnresponsive":
      return agentError(command, `no answer (${message}); ${check}`, error);
    default:
      return agentError(command, message, error);
  }
}

function repeated(words: string): string {
  if (words.length <= messageLimit) return printable(words, messageLimit);
  return `refused, with ${words.length} characters of explanation`;
}

function failure(
  code: "DOMAIN_TIMEOUT" | "DOMAIN_LIBVIRT" | "DOMAIN_MISSING" | "DOMAIN_STATE",
  command: string,
  message: string,
  cause: unknown,
): DomainManagerError {
  return new DomainManagerError(code, `guest agent, ${command}: ${message}`, {
    path: command,
    cause,
  });
}
