import { isConverterError } from "@virtkit/converter";
import { isDiskError } from "../disks/disk-error.ts";
import {
  DomainManagerError,
  type DomainManagerErrorCode,
  isDomainManagerError,
} from "../domain-manager-error.ts";
import { isLibvirtError } from "../libvirt/libvirt-error.ts";

/** libvirt errors that a caller may want to distinguish. */
const codeOfRemote: Readonly<Record<string, DomainManagerErrorCode>> = {
  noDomain: "DOMAIN_MISSING",
  operationInvalid: "DOMAIN_STATE",
  agentUnresponsive: "DOMAIN_AGENT",
  agentUnsynced: "DOMAIN_AGENT",
  agentCommandTimeout: "DOMAIN_AGENT",
  agentCommandFailed: "DOMAIN_AGENT",
};

/**
 * The error that a verb throws for any failure: the step is in the message, the rest in the cause.
 */
export function domainFailure(verb: string, error: unknown): DomainManagerError {
  if (isDomainManagerError(error)) return error;
  const failed = (code: DomainManagerErrorCode, path?: string): DomainManagerError =>
    new DomainManagerError(code, `${verb}: ${textOf(error)}`, { cause: error, path });
  if (isLibvirtError(error)) {
    if (error.code === "LIBVIRT_TIMEOUT") return failed("DOMAIN_TIMEOUT", error.procedure);
    const code = codeOfRemote[error.remote?.codeName ?? ""] ?? "DOMAIN_LIBVIRT";
    return failed(code, error.procedure);
  }
  if (isDiskError(error)) {
    const isVmi = error.code === "DISK_VMI_INVALID" || error.code === "DISK_BASE64_INVALID";
    return failed(isVmi ? "DOMAIN_VMI_INVALID" : "DOMAIN_DISK", error.path);
  }
  if (isConverterError(error)) return failed("DOMAIN_VMI_INVALID", error.path);
  return failed("DOMAIN_LIBVIRT");
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
