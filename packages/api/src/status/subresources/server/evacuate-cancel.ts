import { quote } from "../../../schema/issue.ts";
import { at, objects, text } from "../../../shape.ts";
import { badRequest, notFound, type Refusal } from "../outcome.ts";
import { dryRun, nameOf } from "../state-change.ts";
import { readOptions } from "./read-options.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";
import { vmiOf } from "./vmi-of.ts";

/**
 * `evacuate/cancel`: the VMI need not leave its node any more. Refused while the node's taint would evacuate it
 * again. If a name is given, it must be that of the node to leave; `virtctl` gives none.
 */
export async function planEvacuateCancel(
  request: SubresourceRequest,
  context: SubresourceContext,
): Promise<SubresourcePlan> {
  const found = await vmiOf(request, context);
  if ("kind" in found) return found;
  const { vmi } = found;
  const leaves = text(at(vmi, "status", "evacuationNodeName"));
  const drained = await drainFault(leaves || text(at(vmi, "status", "nodeName")), context);
  if (drained) return drained;
  if (!leaves) return { kind: "answer", code: 200 };
  const fields = { evacuationNodeName: "string", dryRun: "list" } as const;
  const read = readOptions(request.body, fields, context.parse);
  if ("kind" in read) return read;
  const path = "/status/evacuationNodeName";
  const value = text(read.options["evacuationNodeName"]) || leaves;
  const write = {
    kind: "patch",
    resource: "virtualmachineinstances",
    name: nameOf(vmi),
    patch: [
      { op: "test", path, value },
      { op: "remove", path },
    ],
    ...dryRun(read.options),
  } as const;
  return { kind: "writes", code: 200, writes: [write] };
}

async function drainFault(
  name: string,
  { lookup, config }: SubresourceContext,
): Promise<Refusal | undefined> {
  const key = config.migrations.nodeDrainTaintKey;
  if (!key) return undefined;
  const node = await lookup.node(name);
  if (!node) return notFound("node", name);
  const isTainted = objects(at(node, "spec", "taints")).some(
    (taint) => taint["key"] === key && taint["effect"] === "NoSchedule",
  );
  return isTainted
    ? badRequest(
        `node ${quote(name)} has the taint ${quote(key)}, which evacuates VMIs; remove it first`,
      )
    : undefined;
}
