import type { VirtualMachineInstance } from "../../../schema/index.ts";
import { quote } from "../../../schema/issue.ts";
import { at, isSet, text } from "../../../shape.ts";
import { phaseOf } from "../../phases.ts";
import { type NodeSubresource, nodeRoutes } from "../node/index.ts";
import { badRequest, notFound, type Refusal } from "../outcome.ts";
import { dryRun } from "../state-change.ts";
import { vmiSubresourceObstacle } from "../vmi-preconditions.ts";
import { type OptionType, readOptions } from "./read-options.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";

/** Verbs whose body is for this server; other bodies are passed to the node unchanged. */
const ownOptions: Readonly<Partial<Record<NodeSubresource, Readonly<Record<string, OptionType>>>>> =
  {
    pause: { dryRun: "list" },
    unpause: { dryRun: "list" },
  };

/** Plans what the VMI's node does: streams, and the verbs that its launcher carries out. */
export async function planNodeVerb(
  subresource: NodeSubresource,
  request: SubresourceRequest,
  { lookup, parse }: SubresourceContext,
): Promise<SubresourcePlan> {
  const { namespace, name, body } = request;
  const fields = ownOptions[subresource];
  const read = fields ? readOptions(body, fields, parse) : { options: {} };
  if ("kind" in read) return read;
  const vm = subresource === "unpause" ? await lookup.virtualMachine(namespace, name) : undefined;
  const vmi = await lookup.virtualMachineInstance(namespace, name);
  if (!vmi) return notFound("virtualmachineinstance", name);
  const obstacle = vmiSubresourceObstacle(subresource, { vmi, vm }) ?? withoutNode(vmi);
  if (obstacle) return obstacle;
  const node = text(at(vmi, "status", "nodeName"));
  const address = await lookup.nodeAgent(node);
  if (address === undefined) {
    return badRequest(
      `no agent is ready on node ${quote(node)}; check the Pods of the node agents`,
    );
  }
  if (isSet(dryRun(read.options).dryRun)) return { kind: "answer", code: 200 };
  return {
    kind: "node",
    node,
    address,
    vmiUid: text(at(vmi, "metadata", "uid")),
    request: { namespace, name, subresource, query: queryOf(subresource, request) },
    body: fields ? "" : body,
    code: 200,
  };
}

/** Nobody can be asked before a VMI is on a node, or after it has ended. */
function withoutNode(vmi: VirtualMachineInstance): Refusal | undefined {
  const phase = phaseOf(vmi);
  return phase === "Running" || phase === "Scheduled"
    ? undefined
    : badRequest(`its phase is ${quote(phase)}; its node can only be asked while it is Running`);
}

/** Strings that Go reads as true, because clients were written for Go. */
const trueTexts = new Set(["1", "t", "T", "TRUE", "true", "True"]);

function queryOf(
  subresource: NodeSubresource,
  { query }: SubresourceRequest,
): Readonly<Record<string, string>> {
  switch (subresource) {
    case "vnc":
      return { preserveSession: String(trueTexts.has(query["preserveSession"] ?? "")) };
    case "vsock":
      return { port: query["port"] ?? "", tls: query["tls"] || "true" };
    default: {
      const known = nodeRoutes[subresource].query ?? [];
      return Object.fromEntries(
        known.flatMap((key) => (query[key] === undefined ? [] : [[key, query[key]]])),
      );
    }
  }
}
