import type { Configurator, Draft } from "../draft.ts";

const actions: Readonly<Record<string, string>> = { Terminate: "destroy", Reboot: "restart" };

export const rebootPolicy: Configurator = {
  name: "reboot-policy",
  summary:
    "What happens to the domain when the guest reboots; libvirt's default if the VMI does not say.",
  configure({ spec: { rebootPolicy: policy }, domain }: Draft): void {
    if (policy && Object.hasOwn(actions, policy)) domain.onReboot = actions[policy];
  },
};
