import { at, entry, object } from "@virtkit/api/shape";
import { withValue } from "./template-change.ts";
import type { VmPass } from "./vm-pass.ts";

/**
 * Keeps the layout of the guest's PCI devices in the template, so that the next start has the same.
 */
export function keepPciTopology(pass: VmPass): undefined {
  const { pciTopologyVersion, pciInterfaceSlotCount } = pass.config.names.annotations;
  const found = at(pass.vmi, "metadata", "annotations");
  const version = entry(found, pciTopologyVersion);
  const path = ["spec", "template", "metadata", "annotations"];
  const kept = at(pass.vm, ...path);
  if (!version || entry(kept, pciTopologyVersion)) return;
  const count = entry(found, pciInterfaceSlotCount);
  pass.vm = withValue(pass.vm, path, {
    ...object(kept),
    [pciTopologyVersion]: version,
    ...(count === undefined ? {} : { [pciInterfaceSlotCount]: count }),
  });
}
