import { at, entry, text } from "@virtkit/api/shape";
import type { Credentials, MigrationSide } from "@virtkit/pki";
import { isNodeAgentError, NodeAgentError } from "../node-agent-error.ts";
import { podResource } from "../service/launcher-pods.ts";
import type { MigrationScene } from "./migration-scene.ts";
import type { MigrationService } from "./migration-service.ts";

/** A certificate for one side of a VMI's migration. The Pod created for the migration names its object. */
export async function certificateFor(
  side: MigrationSide,
  { vmi, context }: MigrationScene,
  migrationUID: string,
  service: MigrationService,
): Promise<Credentials> {
  const { client, effects, names, signal } = context;
  const { namespace = "" } = vmi.metadata;
  const podName = text(vmi.status?.migrationState?.targetPod);
  return await effects("ask for a certificate", async () => {
    const pod = await client.get(podResource, { namespace, name: podName }, { signal });
    const name = text(entry(pod.metadata.annotations, names.annotations.migrationJobName));
    const uid = at(pod, "metadata", "labels", names.labels.migrationJobUid);
    if (uid !== migrationUID || name === "") {
      const message = `Pod ${namespace}/${podName} was not created for migration ${migrationUID}`;
      throw new NodeAgentError("AGENT_CERTIFICATE", message, { path: "targetPod" });
    }
    return await service.credentials(
      { migrationUID, side, migration: { namespace, name } },
      { signal },
    );
  });
}

/** Whether the request was denied, or never answered. */
export function isUncertified(error: unknown): boolean {
  if (!isNodeAgentError(error)) return false;
  const { code, path } = error;
  return code === "AGENT_CERTIFICATE" || (code === "AGENT_TIMEOUT" && path === "certificate");
}
