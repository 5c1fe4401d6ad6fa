import { quote } from "../timeline/sentences.ts";
import type { Holder, ReadGrant } from "./grant.ts";

/** One sentence: who may run, who may not, and what is waited for. */
export function describeGrant(grant: ReadGrant): string {
  switch (grant.state) {
    case "Invalid":
      return `Nobody may start the guest, because the run grant cannot be read (${quote(grant.problem)}); a person must make sure that no node runs it and create the VMI anew.`;
    case "Free":
      return "Nobody has run the guest yet; a controller is to grant it to a launcher Pod.";
    case "Granted":
      return `The Pod ${quote(grant.podUID)} may claim the guest and nobody else may; its node agent is to claim it.`;
    case "Claimed":
      return `Only ${nameOf(grant.holder)} may run the guest, until its end is proven.`;
    case "HandingOver":
      return `${nameOf(grant.holder)} may run the guest and ${nameOf(grant.target)} may only receive it; the source is to release it or to abort the migration ${quote(grant.migrationUID)}.`;
    case "Released":
      return `${nameOf(grant.target)} may run the guest and ${nameOf(grant.holder)} never again; the target is to resume and claim it.`;
    case "Committed":
      return `The guest moves from ${nameOf(grant.holder)} to ${nameOf(grant.target)} by post-copy and may start nowhere else; the target is to run and claim it, or both are to end.`;
    case "Ended":
      return "Nothing runs the guest; a controller may grant it anew.";
  }
}

function nameOf({ podUID, node }: Holder): string {
  return `Pod ${quote(podUID)} on node ${quote(node)}`;
}
