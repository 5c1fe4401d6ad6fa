import type { ClusterConfig } from "../config/index.ts";
import {
  type Disk,
  type VirtualMachine,
  type VirtualMachineInstance,
  type VirtualMachineInstanceSpec,
  type VirtualMachineVolumeRequest,
  type Volume,
  VolumeSchema,
} from "../schema/index.ts";
import { type Cause, fine, invalid, notSupported, quote } from "./cause.ts";
import { templateSpec } from "./decode-virtual-machine.ts";
import { hotplugDisk } from "./hotplug-disk.ts";
import { semanticallyEqual } from "./semantic-equality.ts";
import { specCauses } from "./spec.ts";

const field = "Status.volumeRequests";
const subject = "status.volumeRequests";

/** Requests to plug volumes in and out, and the VMI as it would be after them. */
export function volumeRequests(
  vm: VirtualMachine,
  running: VirtualMachineInstance | undefined,
  { config, now }: { config: ClusterConfig; now: Date },
): readonly Cause[] {
  const requests = vm.status?.volumeRequests ?? [];
  if (requests.length === 0) return fine;
  const specs = [templateSpec(vm), ...(running ? [running.spec] : [])];
  const known = specs.map(({ volumes }) => new Map(volumes?.map((one) => [one.name, one])));
  const template = new Draft(templateSpec(vm));
  const guest = running && new Draft(running.spec);
  const seen = { add: new Set<string>(), remove: new Set<string>() };
  for (const request of requests) {
    const problem = requestProblem(request, seen, known);
    if (problem.length > 0) return problem;
    template.apply(request);
    guest?.apply(request);
  }
  const at = "spec.template.spec";
  const causes = specCauses(template.spec(), at, config);
  if (causes.length > 0 || !running || !guest) return causes;
  const guestCauses = specCauses(guest.spec(), at, config);
  if (guestCauses.length > 0 || !isMigrating(running, now)) return guestCauses;
  return notSupported("spec", "cannot change its volumes while it migrates; wait for it");
}

/** A list with items added and removed by name; two that share a name are removed together. */
class NamedList<T extends { readonly name: string }> {
  readonly #items: (T | undefined)[] = [];
  readonly #places = new Map<string, number[]>();

  constructor(items: readonly T[] = []) {
    for (const item of items) this.add(item);
  }

  has(name: string): boolean {
    return this.#places.has(name);
  }

  add(item: T): void {
    const places = this.#places.get(item.name);
    if (places) places.push(this.#items.length);
    else this.#places.set(item.name, [this.#items.length]);
    this.#items.push(item);
  }

  remove(name: string): void {
    for (const place of this.#places.get(name) ?? []) this.#items[place] = undefined;
    this.#places.delete(name);
  }

  list(): T[] {
    return this.#items.filter((item) => item !== undefined);
  }
}

/** A spec with volumes added and removed. */
class Draft {
  readonly #base: VirtualMachineInstanceSpec;
  readonly #volumes: NamedList<Volume>;
  readonly #disks: NamedList<Disk>;

  constructor(base: VirtualMachineInstanceSpec) {
    this.#base = base;
    this.#volumes = new NamedList(base.volumes);
    this.#disks = new NamedList(base.domain.devices.disks);
  }

  /** Applies the request. */
  apply({ addVolumeOptions: add, removeVolumeOptions: remove }: VirtualMachineVolumeRequest): void {
    if (remove) {
      this.#volumes.remove(remove.name);
      this.#disks.remove(remove.name);
    } else if (add && !this.#volumes.has(add.name)) {
      this.#volumes.add(requestedVolume(add.name, add.volumeSource));
      if (add.disk) this.#disks.add({ ...add.disk, name: add.name });
    }
  }

  spec(): VirtualMachineInstanceSpec {
    const { domain } = this.#base;
    const devices = { ...domain.devices, disks: this.#disks.list() };
    return { ...this.#base, volumes: this.#volumes.list(), domain: { ...domain, devices } };
  }
}

function requestProblem(
  { addVolumeOptions: add, removeVolumeOptions: remove }: VirtualMachineVolumeRequest,
  seen: { readonly add: Set<string>; readonly remove: Set<string> },
  known: readonly ReadonlyMap<string, Volume>[],
): readonly Cause[] {
  if (add && remove) return invalid(field, "has an entry with both options; set one", subject);
  if (!add && !remove) return invalid(field, "has an entry without options; set one", subject);
  const { name } = add ?? remove ?? { name: "" };
  const earlier = add ? seen.add : seen.remove;
  if (earlier.has(name)) {
    const what = add ? "adds" : "removes";
    return invalid(field, `${what} ${quote(name)} twice; keep one`, subject);
  }
  earlier.add(name);
  if (!add) return fine;
  const unpluggable = hotplugDisk(add.disk, name, field);
  if (unpluggable.length > 0) return unpluggable;
  const wanted = requestedVolume(name, add.volumeSource);
  const conflict = known.some((volumes) => {
    const existing = volumes.get(name);
    return existing && !semanticallyEqual(VolumeSchema, wanted, existing);
  });
  if (!conflict) return fine;
  return invalid(
    field,
    `adds ${quote(name)}, but another volume has that name; rename it`,
    subject,
  );
}

type Source = NonNullable<VirtualMachineVolumeRequest["addVolumeOptions"]>["volumeSource"];

function requestedVolume(name: string, source: Source): Volume {
  const { persistentVolumeClaim, dataVolume } = source;
  if (persistentVolumeClaim) return { name, persistentVolumeClaim };
  return dataVolume ? { name, dataVolume } : { name };
}

function isMigrating({ status }: VirtualMachineInstance, now: Date): boolean {
  const { startTimestamp, endTimestamp } = status?.migrationState ?? {};
  const isPast = (time: string | null | undefined): boolean =>
    Boolean(time) && Date.parse(time ?? "") <= now.getTime();
  return isPast(startTimestamp) && !isPast(endTimestamp);
}
