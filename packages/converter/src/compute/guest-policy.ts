import type { DomainSpec } from "@virtkit/api/schema";
import type { DomainLaunchSecurity } from "../model/domain.ts";

// Bits of the guest policy in AMD's SEV and SEV-SNP firmware interfaces.
const sevNoDebug = 1 << 0;
const sevEncryptedState = 1 << 2;
const snpSmt = 1 << 16;
const snpReserved = 1 << 17;

const quoteServiceAnnotation = "kubevirt.io/qgs-socket-path";

/** What an x86 guest asks for; SEV wins over SEV-SNP, and both over TDX. */
export function amdOrIntelLaunchSecurity(
  { launchSecurity }: DomainSpec,
  annotations: Readonly<Record<string, string>>,
): DomainLaunchSecurity | undefined {
  const { sev, snp, tdx } = launchSecurity ?? {};
  if (sev) {
    const policy = sevNoDebug | (sev.policy?.encryptedState ? sevEncryptedState : 0);
    return {
      type: "sev",
      policy: hex(policy),
      dhCert: sev.dhCert || undefined,
      session: sev.session || undefined,
    };
  }
  if (snp) return { type: "sev-snp", policy: hex(snpSmt | snpReserved) };
  if (!tdx) return undefined;
  const path = annotations[quoteServiceAnnotation] || undefined;
  return { type: "tdx", quoteGenerationService: { path } };
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
