import type { VirtualMachineInstance } from "@virtkit/api/schema";

type InfoSource = "domain" | "multus-status";

function comesFrom(infoSource: string | undefined, source: InfoSource): boolean {
  return (infoSource ?? "")
    .split(",")
    .map((part) => part.trim())
    .includes(source);
}

/**
 * Networks of a running guest that are in its Pod but not in the guest, and those that should go and have left the
 * guest: their wiring is made or undone.
 */
export function changedNetworks({ spec, status }: VirtualMachineInstance): readonly string[] {
  const states = new Map(
    (spec.domain.devices.interfaces ?? []).map(({ name, state }) => [name, state]),
  );
  const known = new Map((status?.interfaces ?? []).map((found) => [found.name ?? "", found]));
  const named = (spec.networks ?? []).map(({ name }) => name).filter((name) => states.has(name));
  const arrives = (name: string): boolean => {
    const { infoSource } = known.get(name) ?? {};
    return comesFrom(infoSource, "multus-status") && !comesFrom(infoSource, "domain");
  };
  const leaves = (name: string): boolean =>
    known.has(name) && !comesFrom(known.get(name)?.infoSource, "domain");
  return [
    ...named.filter((name) => states.get(name) !== "absent" && arrives(name)),
    ...named.filter((name) => states.get(name) === "absent" && leaves(name)),
  ];
}

/** Whether a host network device is in the Pod but not in the guest yet. */
export function hasUnpluggedHostDevices({ spec, status }: VirtualMachineInstance): boolean {
  const wanted = new Set(
    (spec.domain.devices.interfaces ?? []).flatMap(({ name, sriov }) => (sriov ? [name] : [])),
  );
  return (status?.interfaces ?? []).some(
    ({ name = "", infoSource }) =>
      wanted.has(name) &&
      comesFrom(infoSource, "multus-status") &&
      !comesFrom(infoSource, "domain"),
  );
}
