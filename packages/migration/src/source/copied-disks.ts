import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Domain } from "@virtkit/converter";
import { nameOfAlias } from "@virtkit/converter/model";
import { classifyVolumes } from "./classify-volumes.ts";

/**
 * The disks whose content is copied along, by their names in the guest's hardware (`vda`): files and block devices
 * that the target cannot reach. CD-ROM drives and read-only disks are not copied, except for what the launcher
 * generates.
 */
export function copiedDisks(domain: Domain, vmi: VirtualMachineInstance): readonly string[] {
  const volumes = classifyVolumes(vmi);
  return domain.devices.disks
    .filter(({ device, type, readonly, alias }) => {
      const name = nameOfAlias(alias) ?? alias?.name ?? "";
      if (device === "cdrom") return false;
      if (readonly && !volumes.generated.includes(name)) return false;
      return (type === "file" || type === "block") && !volumes.shared.includes(name);
    })
    .flatMap(({ target: { dev } }) => (dev === undefined ? [] : [dev]));
}
