import { quote } from "../timeline/sentences.ts";
import type { Holder, ReadGrant } from "./grant.ts";

/** One sentence: who may run, who may not, and what is awaited. */
export function describeGrant(grant: ReadGrant): string {
  switch (grant.state) {
    case "Invalid":
      return `Nobody may start the guest, because the run grant cannot be read (${quote(grant.problem)}); make sure that no node runs it, then create the VMI again.`;
    case "Free":
      return "Nobody has run the guest yet; a controller must grant it to a launcher Pod.";
    case "Granted":
      return `Only Pod ${quote(grant.podUID)} may claim the guest; its node agent must claim it.`;
    case "Claimed":
      return `Only ${nameOf(grant.holder)} may run the guest, until its end is proven.`;
    case "HandingOver":
      return `${nameOf(grant.holder)} may run the guest and ${nameOf(grant.target)} may only receive it; the source must release it or abort the migration ${quote(grant.migrationUID)}.`;
    case "Released":
      return `${nameOf(grant.target)} may run the guest, and ${nameOf(grant.holder)} may never run it again; the target must resume and claim it.`;
    case "Committed":
      return `The guest moves from ${nameOf(grant.holder)} to ${nameOf(grant.target)} by post-copy and may not start anywhere else; the target must run and claim it, or both must end.`;
    case "Ended":
      return "Nothing runs the guest; a controller may grant it again.";
  }
}

function nameOf({ podUID, node }: Holder): string {
  return `Pod ${quote(podUID)} on node ${quote(node)}`;
}
