import { type Clock, until } from "@virtkit/api/clock";
import { type Domain, parseDomain, toDeviceXml } from "@virtkit/converter";
import { nameOfAlias } from "@virtkit/converter/model";
import { type DomainRef, isLibvirtError, type Libvirt } from "@virtkit/domain-manager/libvirt";
import { MigrationError } from "../migration-error.ts";

type HostDevice = Domain["devices"]["hostDevices"][number];

/** The guest whose devices are unplugged or plugged back in. */
export interface PluggedGuest {
  readonly libvirt: Pick<Libvirt, "call">;
  readonly dom: DomainRef;
  readonly clock?: Clock | undefined;
  /** Milliseconds within which the guest must release its devices; 60 s by default. */
  readonly timeout?: number;
}

/**
 * The host devices that a guest releases before it moves, and gets again where it arrives: virtual functions
 * of its networks. Any other host device prevents a guest from moving (`liveMigratable` says so). Pure.
 */
export function devicesToUnplug({ devices }: Pick<Domain, "devices">): readonly HostDevice[] {
  return devices.hostDevices.filter(({ alias }) =>
    (nameOfAlias(alias) ?? alias?.name ?? "").startsWith("sriov-"),
  );
}

/**
 * Takes devices out of a running guest, and waits until it has released all of them. The definition that
 * libvirt keeps still has them: a guest that stays gets them back from it.
 *
 * @throws MigrationError `MIGRATION_NOT_NOW` if the guest keeps one; then those that it released are plugged
 *   in again.
 */
export async function unplugHostDevices(
  guest: PluggedGuest,
  devices: readonly HostDevice[],
): Promise<void> {
  if (devices.length === 0) return;
  const { libvirt, dom, clock, timeout = 60_000 } = guest;
  try {
    for (const device of devices) await detach(guest, device);
    const areGone = async (): Promise<boolean> => {
      const { xml } = await libvirt.call("domainGetXmlDesc", { dom });
      return devicesToUnplug(parseDomain(xml)).length === 0;
    };
    if (await until(areGone, { clock, interval: 200, timeout })) return;
  } catch (error) {
    await plugHostDevices(guest, devices);
    throw error;
  }
  await plugHostDevices(guest, devices);
  const names = devices.map(({ alias }) => nameOfAlias(alias) ?? alias?.name).join(", ");
  const message = `the guest has not released ${names} within ${timeout} ms; stop using them in the guest, and try again`;
  throw new MigrationError("MIGRATION_NOT_NOW", message, { path: "domain.devices.hostDevices" });
}

async function detach({ libvirt, dom }: PluggedGuest, device: HostDevice): Promise<void> {
  const xml = toDeviceXml("hostDevices", device);
  try {
    await libvirt.call("domainDetachDevice", { dom, xml, flags: ["live"] });
  } catch (error) {
    // It is already unplugged.
    if (!isLibvirtError(error, "deviceMissing")) throw error;
  }
}

/** Plugs the missing devices back into a guest that stays. */
export async function plugHostDevices(
  { libvirt, dom }: PluggedGuest,
  devices: readonly HostDevice[],
): Promise<void> {
  if (devices.length === 0) return;
  const { xml } = await libvirt.call("domainGetXmlDesc", { dom });
  const there = new Set(devicesToUnplug(parseDomain(xml)).map(({ alias }) => alias?.name));
  for (const device of devices) {
    if (there.has(device.alias?.name)) continue;
    const args = { dom, xml: toDeviceXml("hostDevices", device), flags: ["live"] as const };
    await libvirt.call("domainAttachDevice", args);
  }
}
