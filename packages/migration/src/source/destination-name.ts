import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** What the domain is called at the target: the VMI may have another name there. */
export function destinationName({ metadata, status }: VirtualMachineInstance): string {
  const { domainName, domainNamespace } = status?.migrationState?.targetState ?? {};
  if (domainName && domainNamespace) return `${domainNamespace}_${domainName}`;
  return `${metadata?.namespace ?? ""}_${metadata?.name ?? ""}`;
}
