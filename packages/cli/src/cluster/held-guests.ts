import {
  decodeGrant,
  grantAnnotation,
  type Holder,
  type ReadGrant,
  readMemory,
} from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import { at, entry, text } from "@virtkit/api/shape";
import { plain } from "../local/plain.ts";

/** One boot of a node; without `bootID`, any boot. */
export interface NodeBoot {
  readonly node: string;
  readonly bootID?: string;
}

const names = namesOf();

/**
 * The guests that cannot start elsewhere until a boot of a node is proven to be over: VMIs whose run grant names it, and
 * VMs that remember an earlier VMI there. Each as a person calls it, such as `VMI prod/web`.
 */
export function heldGuests(
  { vmis, vms }: { readonly vmis: readonly unknown[]; readonly vms: readonly unknown[] },
  boot: NodeBoot,
): readonly string[] {
  const isThere = ({ node, bootID }: Holder): boolean =>
    node === boot.node && (boot.bootID === undefined || bootID === boot.bootID);
  const held = vmis.filter((vmi) => holdersOf(readGrant(vmi)).some(isThere));
  const uids = new Set(held.map((vmi) => at(vmi, "metadata", "uid")));
  const remembering = vms.filter((vm) => {
    const memory = readMemory(vm, names);
    const earlier = "runs" in memory ? memory.runs.filter(({ vmiUID }) => !uids.has(vmiUID)) : [];
    return earlier.some(({ pods = [] }) => pods.some(({ holder }) => holder && isThere(holder)));
  });
  return [
    ...held.map((vmi) => `VMI ${placeOf(vmi)}`),
    ...remembering.map((vm) => `VM ${placeOf(vm)}, because of an earlier VMI`),
  ];
}

/** The nodes that a VMI's run grant names: where the guest is, and where it moves to. */
export function grantedNodes(vmi: unknown): readonly string[] {
  return holdersOf(readGrant(vmi)).map(({ node }) => node);
}

/** The run grant of a VMI; `Invalid` if it has none. */
export function readGrant(vmi: unknown): ReadGrant {
  const value = entry(at(vmi, "metadata", "annotations"), names.own(grantAnnotation));
  return decodeGrant(value, text(at(vmi, "metadata", "uid")));
}

function holdersOf(grant: ReadGrant): readonly Holder[] {
  if (!("holder" in grant)) return [];
  return "target" in grant ? [grant.holder, grant.target] : [grant.holder];
}

function placeOf(object: unknown): string {
  const [namespace, name] = ["namespace", "name"].map((key) => text(at(object, "metadata", key)));
  return plain(`${namespace}/${name}`);
}
