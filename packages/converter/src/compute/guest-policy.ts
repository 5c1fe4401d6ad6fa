import type { DomainSpec } from "@virtkit/api/schema";
import type { DomainLaunchSecurity } from "../model/domain.ts";

// Bits of the guest policy in AMD's SEV and SEV-SNP firmware interfaces.
const sevNoDebug = 1 << 0;
const sevEncryptedState = 1 << 2;
const snpSmt = 1 << 16;
const snpReserved = 1 << 17;

/**
 * What an x86 guest asks for; SEV takes precedence over SEV-SNP, and both over TDX. `quoteService` is the
 * socket of the service that signs quotes of TDX guests.
 */
export function amdOrIntelLaunchSecurity(
  { launchSecurity }: DomainSpec,
  quoteService: string | undefined,
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
  return { type: "tdx", quoteGenerationService: { path: quoteService || undefined } };
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
