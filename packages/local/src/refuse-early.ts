import { NodeAgentError } from "@virtkit/node-agent/errors";
import { type GatherOptions, gatherFacts } from "./gather-facts.ts";
import type { LocalFacts } from "./local-facts.ts";
import { localRefusals } from "./local-refusals.ts";
import { refusalText } from "./refusal.ts";
import { requireVmiShape } from "./require-vmi-shape.ts";

/**
 * Checks, before anything is created, that local mode can run a VMI on this host; returns what it
 * found.
 *
 * @throws NodeAgentError `AGENT_REFUSED` with everything that is not supported, one per line, and
 * the list in `refusals`; `AGENT_VMI_INVALID` if the VMI cannot be read.
 */
export async function refuseEarly(options: GatherOptions): Promise<LocalFacts> {
  const { vmi } = options;
  requireVmiShape(vmi);
  const facts = await gatherFacts(options);
  const refusals = localRefusals(vmi, facts);
  const [first] = refusals;
  if (!first) return facts;
  const lines = refusals.map((refusal) => `  ${refusalText(refusal)}`);
  const message = `this host cannot run ${vmi.metadata?.name ?? "the VMI"}:\n${lines.join("\n")}`;
  throw new NodeAgentError("AGENT_REFUSED", message, { path: first.field, refusals });
}
