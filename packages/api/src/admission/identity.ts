import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import { type Cause, fine, invalid, join, quote } from "./cause.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "./kubernetes-name.ts";

/** `spec.hostname` becomes the guest's host name and a part of its DNS name. */
export function hostname(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  if (!spec.hostname) return fine;
  return wholly(`${at}.hostname`, spec.hostname, dnsLabelProblems(spec.hostname));
}

/** `spec.subdomain` is the rest of the guest's DNS name. */
export function subdomain(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  if (!spec.subdomain) return fine;
  return wholly(`${at}.subdomain`, spec.subdomain, dnsSubdomainProblems(spec.subdomain));
}

/** `spec.serviceAccountName` and a serviceAccount volume must name the same account. */
export function serviceAccountName(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const name = spec.serviceAccountName;
  if (!name) return fine;
  const field = `${at}.serviceAccountName`;
  const malformed = wholly(field, name, dnsSubdomainProblems(name));
  const other = spec.volumes
    ?.map((volume) => volume.serviceAccount)
    .find((source) => source && (source.serviceAccountName ?? "") !== name);
  if (!other) return malformed;
  const mismatch = invalid(
    field,
    `is ${quote(name)}, but a serviceAccount volume has ${quote(other.serviceAccountName ?? "")}; a VMI has one service account; use the same name in both`,
  );
  return join(malformed, mismatch);
}

function wholly(field: string, found: string, problems: readonly string[]): readonly Cause[] {
  if (problems.length === 0) return fine;
  return invalid(field, `is ${quote(found)}, which ${problems.join(", and ")}`);
}
