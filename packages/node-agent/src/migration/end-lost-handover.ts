import { decide, type Grant, type ProofOfEnd } from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isFinal, withPhase } from "@virtkit/api/status";
import type { AgentContext } from "../service/agent-context.ts";
import type { GuestRecord } from "../service/guest-record.ts";
import { timeOf } from "./launcher-attempt.ts";
import { handoverTo } from "./plan-target-duty.ts";
import { sourceProofs } from "./source-proofs.ts";
import { VmiGrantStore } from "./vmi-grant-store.ts";

/**
 * Ends a handover to a launcher of this node that has ended, if its source is proven to have ended, too: the guest is lost,
 * and its VMI has failed. Controllers do the same with what kubelets report; but the target's Pod may be gone, and then only
 * the agent that saw its process end can prove it. Otherwise nothing is written: a source that runs takes its guest back.
 *
 * @param proofs that the launcher of the record has ended.
 */
export async function endLostHandover(
  record: GuestRecord,
  proofs: readonly ProofOfEnd[],
  context: AgentContext,
): Promise<void> {
  const store = new VmiGrantStore(record, context, (vmi, next) =>
    failed(vmi, next, context.wall().getTime()),
  );
  const stored = await store.read();
  const { grant } = stored;
  if (!handoverTo(grant, context.holderOf(record))) return;
  const all = [...proofs, ...(await sourceProofs(grant, record.namespace, context))];
  const verdict = decide(grant, { kind: "end", vmiUID: record.vmiUid, proofs: all });
  if (!("refused" in verdict)) await store.swap(stored, verdict.grant);
}

function failed(vmi: VirtualMachineInstance, next: Grant, now: number): VirtualMachineInstance {
  if (next.state !== "Ended" || isFinal(vmi)) return vmi;
  return { ...vmi, status: withPhase(vmi.status ?? {}, "Failed", timeOf(now) ?? "") };
}
