import { attribute, type ElementType, element, required } from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** The name by which libvirt knows a device; names that the user sets begin with `ua-`. */
export interface DomainAlias extends Extensible {
  name: string;
}

export const aliasElement: ElementType<DomainAlias> = element(() => ({
  name: required(attribute()),
}));

const userPrefix = "ua-";

/** The alias of a device from its name in the VMI; empty if there is no name. */
export function userAlias(name: string | null | undefined): DomainAlias {
  return { name: userPrefix + (name ?? "") };
}

/** The name in the VMI behind an alias; `undefined` for an alias that libvirt generated. */
export function nameOfAlias(alias: DomainAlias | undefined): string | undefined {
  return alias?.name.startsWith(userPrefix) ? alias.name.slice(userPrefix.length) : undefined;
}
