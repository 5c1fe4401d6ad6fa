import { type Names, names } from "@virtkit/api/names";
import { LauncherPaths } from "../launcher-paths.ts";
import { nameOfAlias } from "../model/alias.ts";
import type { Domain } from "../model/domain.ts";
import { diffCpus } from "./diff-cpus.ts";
import { diffDisks } from "./diff-disks.ts";
import { diffElements } from "./diff-elements.ts";
import { diffHostDevices } from "./diff-host-devices.ts";
import { diffInterfaces } from "./diff-interfaces.ts";
import { diffMemory } from "./diff-memory.ts";
import type { ChangeEffect, ChangeKind, Comparison, DomainChange } from "./domain-change.ts";
import { valueDifferences } from "./value-differences.ts";

/** Options of {@link diffDomains}. */
export interface DiffOptions {
  /**
   * Whether the running domain was reported by libvirt. By default this is detected by libvirt's marks: a
   * run-time id, or a device alias that nobody asked for.
   */
  readonly filledIn?: boolean;
  /** Whether the cluster can plug a network into a running Pod, so that no migration is needed. */
  readonly dynamicNetworks?: boolean;
  /** The platform's names for its directories. Default: KubeVirt's. */
  readonly names?: Pick<Names, "directories">;
}

/**
 * The changes that turn the running domain into the wanted one, in the order in which they can be applied: first
 * what can be done live, unplugging before plugging in; then what needs a migration, because the Pod was created
 * for less; then what needs a restart. The effects follow KubeVirt's rules for hotplug, which are stricter than
 * libvirt's. Equal domains give an empty list.
 *
 * Either domain may come from `convert` or `parseDomain`. If libvirt has filled in a domain, anything beyond what
 * is wanted counts as added by libvirt, so a feature that is no longer wanted is not noticed. To notice it, compare
 * with the domain that was last requested.
 *
 * @example
 * ```ts
 * const changes = diffDomains(parseDomain(await domain.xml()), domainFor(vmi, environment));
 * const restart = changes.some(({ effect }) => effect === "needs-restart");
 * ```
 */
export function diffDomains(
  running: Domain,
  wanted: Domain,
  options: DiffOptions = {},
): DomainChange[] {
  const { filledIn = isFilledIn(running), dynamicNetworks = false } = options;
  const { directories } = options.names ?? names();
  const paths = new LauncherPaths(directories);
  const comparison: Comparison = { filledIn, dynamicNetworks, paths };
  const changes = [
    ...diffDisks(running, wanted, comparison),
    ...diffInterfaces(running, wanted, comparison),
    ...diffHostDevices(running, wanted, comparison),
    ...diffCpus(running, wanted, comparison),
    ...diffMemory(running, wanted),
    ...diffMetadata(running, wanted, comparison),
    ...diffElements(running, wanted, comparison),
  ];
  const rank = ({ effect, kind }: DomainChange): number =>
    effectOrder.indexOf(effect) * kindOrder.length + kindOrder.indexOf(kind);
  return changes.sort((one, other) => rank(one) - rank(other));
}

const effectOrder: readonly ChangeEffect[] = ["live", "needs-migration", "needs-restart"];

/** Ports and names are freed before they are reused. */
const kindOrder: readonly ChangeKind[] = [
  "change-media",
  "detach-host-device",
  "detach-interface",
  "detach-disk",
  "attach-disk",
  "resize-disk",
  "attach-interface",
  "set-link-state",
  "attach-host-device",
  "set-vcpus",
  "pin-cpus",
  "set-memory",
  "set-metadata",
  "change-disk",
  "change-interface",
  "change-host-device",
  "set-vcpu-limit",
  "set-memory-limit",
  "change-element",
];

function isFilledIn({ extra, devices }: Domain): boolean {
  if (extra?.attributes?.["id"] !== undefined) return true;
  const aliases = [...devices.disks, ...devices.interfaces, ...devices.controllers];
  return aliases.some(({ alias }) => alias && nameOfAlias(alias) === undefined);
}

function diffMetadata(
  { metadata: running }: Domain,
  { metadata: wanted }: Domain,
  { filledIn }: Comparison,
): DomainChange[] {
  const [before, after] = [running.kubevirt.graceperiod, wanted.kubevirt.graceperiod];
  if (valueDifferences(before, after, "graceperiod", filledIn).length === 0) return [];
  const summary = "change the grace period for the guest's shutdown";
  return [{ kind: "set-metadata", metadata: wanted, effect: "live", summary }];
}
