import { at, isSet, text } from "../../../shape.ts";
import { badRequest, notFound } from "../outcome.ts";
import { nameOf } from "../state-change.ts";
import { vmiSubresourceObstacle } from "../vmi-preconditions.ts";
import { readOptions } from "./read-options.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";

/** `sev/setupsession`: writes the owner's session and certificate into the VMI before the guest is started. */
export async function planSevSession(
  { namespace, name, body }: SubresourceRequest,
  { lookup, parse }: SubresourceContext,
): Promise<SubresourcePlan> {
  const read = readOptions(body, { session: "string", dhCert: "string" }, parse);
  if ("kind" in read) return read;
  const session = text(read.options["session"]);
  const dhCert = text(read.options["dhCert"]);
  if (!session) return badRequest("session is missing; send the session of the guest's owner");
  if (!dhCert) return badRequest("dhCert is missing; send the certificate of the guest's owner");
  const vmi = await lookup.virtualMachineInstance(namespace, name);
  if (!vmi) return notFound("virtualmachineinstance", name);
  const obstacle = vmiSubresourceObstacle("sev/setupsession", { vmi });
  if (obstacle) return obstacle;
  const path = "/spec/domain/launchSecurity/sev";
  const sev = at(vmi, "spec", "domain", "launchSecurity", "sev");
  const value = { ...(isSet(sev) ? (sev as object) : {}), session, dhCert };
  const write = {
    kind: "patch",
    resource: "virtualmachineinstances",
    name: nameOf(vmi),
    patch: [
      { op: "test", path, value: sev },
      { op: "replace", path, value },
    ],
  } as const;
  return { kind: "writes", code: 202, writes: [write] };
}
