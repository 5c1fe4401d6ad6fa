import type { DomainRef, Libvirt } from "@virtkit/domain-manager/libvirt";
import type { MigrationPlan } from "@virtkit/migration/source";
import type { MigrateRequest } from "./migration-verbs.ts";

/** The host devices that the guest releases before it moves. */
export async function givenBack(
  { devicesToUnplug }: typeof import("@virtkit/migration/source"),
  { libvirt, dom }: { readonly libvirt: Libvirt; readonly dom: DomainRef },
): Promise<ReturnType<typeof devicesToUnplug>> {
  const { parseDomain } = await import("@virtkit/converter");
  const { xml } = await libvirt.call("domainGetXmlDesc", { dom });
  return devicesToUnplug(parseDomain(xml));
}

/** What the migration is called with, from the domain as it runs now. */
export async function planFor(
  { vmi, options, tls, uris }: MigrateRequest,
  { planMigration, readVirtualSizes }: typeof import("@virtkit/migration/source"),
  guest: { readonly libvirt: Libvirt; readonly dom: DomainRef; readonly paused: boolean },
): Promise<MigrationPlan> {
  const { libvirt, dom, paused } = guest;
  const [{ xml: domainXml }, { version }, qemu] = await Promise.all([
    libvirt.call("domainGetXmlDesc", { dom, flags: ["migratable"] }),
    libvirt.call("connectGetLibVersion", {}),
    libvirt.call("connectGetVersion", {}),
  ]);
  const virtualSizes = await readVirtualSizes(vmi, domainXml, async (path) => {
    const { capacity } = await libvirt.call("domainGetBlockInfo", { dom, path });
    return Number(capacity);
  });
  return planMigration({
    ...{ vmi, options, domainXml, paused, tls, libvirtVersion: Number(version), virtualSizes },
    qemuVersion: Number(qemu.version),
    ...(uris && { uris }),
  });
}
