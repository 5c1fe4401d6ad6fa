import type { Configurator, Draft } from "../draft.ts";

export const launchSecurity: Configurator = {
  name: "launch-security",
  summary: "Encrypted memory: SEV, SEV-SNP, TDX.",
  configure({ spec, annotations, names, architecture, domain }: Draft): void {
    if (!spec.launchSecurity) return;
    domain.launchSecurity = architecture.launchSecurity(
      spec,
      annotations[names.annotations.qgsSocketPath],
    );
  },
};
