import type { Observers } from "@virtkit/api/observe";
import type { NodeCapabilities } from "../duties/node-capabilities.ts";
import { GuestMetrics } from "../metrics/guest-metrics.ts";
import { nodeSamples } from "../metrics/node-samples.ts";
import { prometheusText } from "../metrics/prometheus-text.ts";
import type { NodeAgent } from "./create-node-agent.ts";
import { measuredGuests } from "./served-guests.ts";

/** Options of {@link agentMetrics}. */
export interface AgentMetricsOptions extends Observers {
  readonly agent: Pick<NodeAgent, "guests">;
  readonly nodeName: string;
  /** Whether requests for the guests of this node are served. */
  readonly ready: () => boolean;
  /** What the node's hypervisor can do, if it is known. */
  readonly capabilities: () => NodeCapabilities | undefined;
}

/**
 * All that a node agent reports about itself, its node and its guests, in the text format of Prometheus: for `collect` of
 * `startMetricsServer`.
 *
 * @example
 * const collect = agentMetrics({ agent, nodeName, ready: () => true, capabilities: () => undefined });
 * await using server = await startMetricsServer({ port: 8080, collect, problems: () => agent.problems() });
 */
export function agentMetrics(options: AgentMetricsOptions): () => Promise<string> {
  const { agent, nodeName, ready, capabilities, ...observers } = options;
  const guests = new GuestMetrics(observers);
  return async () => {
    const node = nodeSamples(nodeName, { ready: ready(), capabilities: capabilities() });
    return prometheusText([...node, ...(await guests.collect(measuredGuests(agent)))]);
  };
}
