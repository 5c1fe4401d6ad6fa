import type { Configurator, Draft } from "../draft.ts";

export const identity: Configurator = {
  name: "identity",
  summary: "The domain's name: namespace and name, which are unique on the node.",
  configure({ vmi, domain }: Draft): void {
    const { name, namespace } = vmi.metadata ?? {};
    domain.name = `${namespace ?? ""}_${name ?? ""}`;
  },
};
