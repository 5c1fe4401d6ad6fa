import { isOrdinalTap, primaryTap } from "@virtkit/api/network";
import { nameOfAlias } from "../model/alias.ts";
import type { Domain } from "../model/domain.ts";
import type { DomainInterface } from "../model/interface.ts";
import type { Comparison, DomainChange } from "./domain-change.ts";
import { valueDifferences } from "./value-differences.ts";

/** Network cards to unplug, plug in or change. */
export function diffInterfaces(
  running: Domain,
  wanted: Domain,
  comparison: Comparison,
): DomainChange[] {
  const [before, after] = [running.devices.interfaces, wanted.devices.interfaces];
  const partner = (list: DomainInterface[], card: DomainInterface): DomainInterface | undefined =>
    list.find((candidate) => isSame(candidate, card));
  return [
    ...before.flatMap((card) => {
      const other = partner(after, card);
      return other ? compare(card, other, comparison) : [detach(card)];
    }),
    ...after.filter((card) => !partner(before, card)).map((card) => attach(card, comparison)),
  ];
}

function isSame(one: DomainInterface, other: DomainInterface): boolean {
  const [name, otherName] = [nameOfAlias(one.alias), nameOfAlias(other.alias)];
  if (name !== undefined || otherName !== undefined) return name === otherName;
  return one.mac?.address === other.mac?.address;
}

function detach(card: DomainInterface): DomainChange {
  const base = { kind: "detach-interface", interface: card } as const;
  const summary = `detach the interface ${label(card)}`;
  const reason = whyNotPluggable(card) ?? whyKept(card);
  if (reason === undefined) return { ...base, summary, effect: "live" };
  return { ...base, summary, effect: "needs-restart", reason };
}

function attach(card: DomainInterface, { dynamicNetworks }: Comparison): DomainChange {
  const base = { kind: "attach-interface", interface: card } as const;
  const summary = `attach the interface ${label(card)}`;
  const restart = whyNotPluggable(card);
  if (restart !== undefined) return { ...base, summary, effect: "needs-restart", reason: restart };
  if (dynamicNetworks) return { ...base, summary, effect: "live" };
  const reason = "the Pod gets the network when it is created, so the guest must move to a new one";
  return { ...base, summary, effect: "needs-migration", reason };
}

/** Only virtio cards on a TAP device are plugged while the guest runs. */
function whyNotPluggable({ type, model }: DomainInterface): string | undefined {
  if (type !== "ethernet") return `an interface of type ${type} exists from the start`;
  if (model && !model.type.startsWith("virtio"))
    return `the model ${model.type} does not support hotplug`;
  return undefined;
}

function whyKept({ target }: DomainInterface): string | undefined {
  if (target?.dev === primaryTap) return "it is the Pod's own network";
  if (!target || !isOrdinalTap(target.dev)) return undefined;
  return `${target.dev} is named by its position, which would change for the others`;
}

function compare(
  running: DomainInterface,
  wanted: DomainInterface,
  { filledIn }: Comparison,
): DomainChange[] {
  const changes: DomainChange[] = [];
  const state = wanted.link?.state ?? "up";
  if ((running.link?.state ?? "up") !== state) {
    const summary = `set the link of the interface ${label(wanted)} ${state}`;
    const card = { ...running, link: { state } };
    changes.push({ kind: "set-link-state", interface: card, effect: "live", summary });
  }
  const fields = valueDifferences(comparable(running), comparable(wanted), "", filledIn);
  if (fields.length === 0) return changes;
  const names = fields.map(({ path }) => path);
  changes.push({
    kind: "change-interface",
    interface: wanted,
    fields: names,
    effect: "needs-restart",
    summary: `change ${names.join(", ")} of the interface ${label(wanted)}`,
    reason: "only the link state of an interface can change while the guest runs",
  });
  return changes;
}

/** Without the link, and without what the Pod's own link decides if nothing is set. */
function comparable(card: DomainInterface): object {
  const { alias: _alias, link: _link, target: _target, mtu: _mtu, ...own } = card;
  return own;
}

function label({ alias, mac }: DomainInterface): string {
  const name = nameOfAlias(alias);
  return name === undefined ? (mac?.address ?? "without a name") : `"${name}"`;
}
