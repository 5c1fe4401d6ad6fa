import { nodeAgentCauses, serviceAccounts } from "@virtkit/api/admission";
import { grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import { KubeError, type KubeObject } from "@virtkit/kube";
import type { StoreChange } from "./small-store.ts";

const rule = { names: namesOf(), accounts: serviceAccounts("kubevirt") };
const account = {
  username: "system:serviceaccount:kubevirt:kubevirt-handler",
  extra: "authentication.kubernetes.io/node-name",
};

/**
 * The API server's rule for node agents, for changes of the run grant: reports and rejects what the agent of a node may not
 * write.
 */
export function reviewAgent(
  { by, plural: resource, before: oldObject, after: object }: StoreChange,
  onRefusal: (why: string) => void,
): void {
  const node = /^agent of (.*)$/.exec(by)?.[1];
  if (node === undefined || !oldObject || grantIn(oldObject) === grantIn(object)) return;
  const write = {
    resource,
    operation: "UPDATE",
    name: oldObject.metadata.name,
    oldObject,
    object,
  } as const;
  const who = { username: account.username, userExtra: { [account.extra]: [node] } };
  const [cause] = nodeAgentCauses({ ...write, ...who } as never, rule);
  if (!cause) return;
  const message = `${cause.field}: ${cause.message}`;
  onRefusal(`a write of the ${by} is refused: ${message}`);
  throw new KubeError("KUBE_STATUS", message, { status: 422, reason: "Invalid" });
}

function grantIn(object: KubeObject | undefined): string | undefined {
  return object?.metadata.annotations?.[rule.names.own(grantAnnotation)];
}
