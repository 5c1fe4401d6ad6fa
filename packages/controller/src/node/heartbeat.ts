import { names as namesOf } from "@virtkit/api/names";
import type { KubeObject } from "@virtkit/kube";
import type { NodePlanConfig } from "./node-view.ts";

const defaultTimeoutSeconds = 300;

/** A time as Kubernetes writes it. */
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Whether a node's agent has sent a heartbeat recently; undefined if the heartbeat cannot be read.
 * A node that does not exist has none.
 */
export function isResponsive(
  node: KubeObject | undefined,
  config: NodePlanConfig,
  now: number,
): boolean | undefined {
  const { names = namesOf(), heartbeatTimeoutSeconds = defaultTimeoutSeconds } = config;
  if (!node) return false;
  const heartbeat = node.metadata.annotations?.[names.annotations.heartbeat];
  if (heartbeat === undefined) return config.trustSilentNodes ?? false;
  const time = timestamp.test(heartbeat) ? Date.parse(heartbeat) : Number.NaN;
  return Number.isNaN(time) ? undefined : time >= now - heartbeatTimeoutSeconds * 1000;
}
