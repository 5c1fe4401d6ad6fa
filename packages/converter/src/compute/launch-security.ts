import type { Configurator, Draft } from "../draft.ts";

/** Encrypted memory: SEV, SEV-SNP, TDX. */
export const launchSecurity: Configurator = {
  name: "launch-security",
  configure({ spec, annotations, architecture, domain }: Draft): void {
    if (!spec.launchSecurity) return;
    domain.launchSecurity = architecture.launchSecurity(spec, annotations);
  },
};
