import type { GuestControl } from "@virtkit/domain-manager";
import type { ServedGuest } from "../guest-server/served-guest.ts";
import type { MeasuredGuest } from "../metrics/guest-metrics.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import type { NodeAgent } from "./create-node-agent.ts";
import type { HeldGuest } from "./node-guests.ts";

/** The guests of an agent, for `findGuest` of `startGuestServer`: by namespace and name. */
export function servedGuests(
  agent: Pick<NodeAgent, "guest">,
): (namespace: string, name: string) => ServedGuest | undefined {
  return (namespace, name) => {
    const held = agent.guest({ namespace, name });
    if (!held?.vmi) return undefined;
    return {
      vmi: held.vmi,
      ...(held.sandbox ? { sandbox: held.sandbox } : {}),
      launcher: async () => controlOf(held),
      mayRun: ({ signal }) => held.mayRun({ signal }),
    };
  };
}

/** The guests of an agent whose launchers answer, for `GuestMetrics.collect`. */
export function measuredGuests(agent: Pick<NodeAgent, "guests">): readonly MeasuredGuest[] {
  return agent.guests().flatMap((held) =>
    held.vmi && held.client
      ? [
          {
            ...{ vmi: held.vmi, status: held.domain, launcher: controlOf(held) },
            migration: held.leaving,
          },
        ]
      : [],
  );
}

/** The connection has more verbs than the agent itself needs. */
function controlOf({ client, podUid }: HeldGuest): GuestControl {
  if (client) return client as unknown as GuestControl;
  const message = `the launcher of Pod ${podUid} does not answer; try again`;
  throw new NodeAgentError("AGENT_LAUNCHER", message, { path: "launcher" });
}
