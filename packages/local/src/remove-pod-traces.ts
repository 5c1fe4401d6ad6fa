import type { PodTraces } from "./group-traces.ts";
import { removeLocalSandbox } from "./local-sandbox.ts";
import { agentDirectory } from "./vmi-life.ts";

/**
 * Removes everything of a Pod, by its UID; kills what runs of it. The caller decides whether that
 * is allowed. After a crash at any point it can be repeated.
 */
export async function removePodTraces(
  stateDirectory: string,
  { podUid, vmiUid, traces }: PodTraces,
): Promise<void> {
  const { RunClaims } = await import("@virtkit/node-agent/claims");
  const { teardown } = await import("@virtkit/node-agent/prepare");
  const { removeTrace } = await import("@virtkit/node-agent/trace");
  const agent = agentDirectory(stateDirectory);
  if (podUid !== undefined) {
    await removeLocalSandbox(stateDirectory, podUid);
    await teardown(podUid, { stateDirectory: agent });
    const claims = new RunClaims(agent);
    for (const { vmi } of traces) if (vmi) claims.forget({ ...vmi, podUid });
  }
  if (vmiUid !== undefined) removeTrace(agent, vmiUid);
}
