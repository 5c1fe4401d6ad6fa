import { isNodeSubresource } from "../node/index.ts";
import type { Refusal } from "../outcome.ts";
import { badRequest, internalError } from "../outcome.ts";
import { planEvacuateCancel } from "./evacuate-cancel.ts";
import { planExpandSpec, planExpandVmSpec } from "./expand.ts";
import { planMemoryDumpVerb, planRemoveMemoryDumpVerb } from "./memory-dump-verbs.ts";
import { planNodeVerb } from "./node-verbs.ts";
import { planObjectGraph } from "./object-graph.ts";
import { planPortForward } from "./port-forward.ts";
import { planSevSession } from "./sev-session.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";
import { planVmVerb } from "./vm-verbs.ts";
import { planVolumeVerb } from "./volume-verbs.ts";

/**
 * What to do for a request, given what exists now: a refusal, writes, a call to the VMI's node, a connection to the
 * guest, or an answer. Reads only what it needs, in order. Rejects if a read fails; nothing else throws.
 */
export async function planSubresource(
  request: SubresourceRequest,
  context: SubresourceContext,
): Promise<SubresourcePlan> {
  const { route } = request;
  const media = mediaFault(request);
  if (media) return media;
  if (route.isStream && !request.upgrade) {
    return badRequest("this is a stream; request an upgrade to a WebSocket");
  }
  switch (route.subresource) {
    case "":
      return planExpandVmSpec(request, context);
    case "start":
    case "stop":
    case "restart":
    case "migrate":
      return planVmVerb(route.subresource, request, context);
    case "addvolume":
    case "removevolume":
      return planVolumeVerb(route.subresource, request, context);
    case "memorydump":
      return planMemoryDumpVerb(request, context);
    case "removememorydump":
      return planRemoveMemoryDumpVerb(request, context);
    case "evacuate/cancel":
      return planEvacuateCancel(request, context);
    case "expand-spec":
      return planExpandSpec(request, context);
    case "objectgraph":
      return planObjectGraph(request, context);
    case "portforward":
      return planPortForward(request, context);
    case "sev/setupsession":
      return planSevSession(request, context);
    default:
      return isNodeSubresource(route.subresource)
        ? planNodeVerb(route.subresource, request, context)
        : internalError(`no server implements ${JSON.stringify(route.subresource)}`);
  }
}

/** Only a body that is a whole object must have a content type; `virtctl` sends none with options. */
function mediaFault({ route, contentType }: SubresourceRequest): Refusal | undefined {
  if (!route.asksForJson || (route.method === "GET" && contentType === undefined)) return undefined;
  const type = (contentType ?? "").split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return undefined;
  const message = `the Content-Type is ${JSON.stringify(contentType ?? "")}; use application/json`;
  return { kind: "refused", code: 415, reason: "UnsupportedMediaType", message };
}
