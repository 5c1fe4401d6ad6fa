import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** The name of the domain at the target: the VMI may have another name there. */
export function destinationName({ metadata, status }: VirtualMachineInstance): string {
  const { domainName, domainNamespace } = status?.migrationState?.targetState ?? {};
  if (domainName && domainNamespace) return `${domainNamespace}_${domainName}`;
  return `${metadata?.namespace ?? ""}_${metadata?.name ?? ""}`;
}
