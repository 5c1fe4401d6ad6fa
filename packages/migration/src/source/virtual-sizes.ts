import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { nameOfAlias } from "@virtkit/converter/model";
import { readMigratingDomain } from "../read-migrating-domain.ts";
import { classifyVolumes } from "./classify-volumes.ts";

/**
 * The size in bytes that the guest sees of each volume that is copied to another one. The new one may be larger,
 * and must not look so before the guest has moved. `capacityOf` takes the guest's name for a disk, such as `vda`.
 */
export async function readVirtualSizes(
  vmi: VirtualMachineInstance,
  domainXml: string,
  capacityOf: (target: string) => Promise<number>,
): Promise<Readonly<Record<string, number>>> {
  const wanted = classifyVolumes(vmi).localToMigrate;
  if (wanted.length === 0) return {};
  const { disks } = readMigratingDomain(domainXml, "domainXml").devices;
  const sizes: [string, number][] = [];
  for (const { alias, target } of disks) {
    const name = nameOfAlias(alias) ?? alias?.name ?? "";
    if (!wanted.includes(name) || target.dev === undefined) continue;
    sizes.push([name, await capacityOf(target.dev)]);
  }
  return Object.fromEntries(sizes);
}
