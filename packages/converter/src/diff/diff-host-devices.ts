import type { Domain } from "../model/domain.ts";
import type { DomainHostDevice } from "../model/host-device.ts";
import type { Comparison, DomainChange } from "./domain-change.ts";
import { valueDifferences } from "./value-differences.ts";

/** Host devices to unplug, plug in or change. */
export function diffHostDevices(
  running: Domain,
  wanted: Domain,
  { filledIn }: Comparison,
): DomainChange[] {
  const [before, after] = [running.devices.hostDevices, wanted.devices.hostDevices];
  const partner = (list: DomainHostDevice[], at: number, device: DomainHostDevice) =>
    list.find((candidate, place) => isSame(candidate, place, device, at));
  return [
    ...before.flatMap((device, at) => {
      const other = partner(after, at, device);
      return other ? compare(device, other, filledIn) : [plug("detach-host-device", device)];
    }),
    ...after
      .filter((device, at) => !partner(before, at, device))
      .map((device) => plug("attach-host-device", device)),
  ];
}

function isSame(
  one: DomainHostDevice,
  place: number,
  other: DomainHostDevice,
  otherPlace: number,
): boolean {
  if (one.alias && other.alias) return one.alias.name === other.alias.name;
  return place === otherPlace;
}

/** Network functions are attached and detached by a migration; all others stay. */
function plug(
  kind: "detach-host-device" | "attach-host-device",
  hostDevice: DomainHostDevice,
): DomainChange {
  const verb = kind === "attach-host-device" ? "attach" : "detach";
  const summary = `${verb} the host device ${label(hostDevice)}`;
  if (isNetworkFunction(hostDevice)) {
    const reason = "the Pod gets its network functions when it is created";
    return { kind, hostDevice, summary, effect: "needs-migration", reason };
  }
  const reason = "the Pod gets its devices when it is created, and this one does not migrate";
  return { kind, hostDevice, summary, effect: "needs-restart", reason };
}

function compare(
  running: DomainHostDevice,
  wanted: DomainHostDevice,
  filledIn: boolean,
): DomainChange[] {
  const fields = valueDifferences(running, wanted, "", filledIn).map(({ path }) => path);
  if (fields.length === 0) return [];
  const summary = `change ${fields.join(", ")} of the host device ${label(wanted)}`;
  const reason = "a host device cannot change while the guest runs";
  const base = { kind: "change-host-device", hostDevice: wanted, fields, summary } as const;
  return [{ ...base, effect: "needs-restart", reason }];
}

function isNetworkFunction({ alias }: DomainHostDevice): boolean {
  return alias?.name.replace(/^ua-/, "").startsWith("sriov-") ?? false;
}

function label({ alias, type }: DomainHostDevice): string {
  return alias ? `"${alias.name.replace(/^ua-/, "")}"` : `of type ${type}`;
}
