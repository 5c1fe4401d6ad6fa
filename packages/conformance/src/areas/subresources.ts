import { VirtualMachineInstanceSchema, VirtualMachineSchema } from "@virtkit/api/schema";
import { at, isSet, text } from "@virtkit/api/shape";
import type { Write } from "@virtkit/api/status";
import type { Refusal } from "@virtkit/api/subresources";
import { nodeRequestPath, nodeRoutes } from "@virtkit/api/subresources/node";
import {
  accessQuestion,
  nodeRefusal,
  type PlannedNodeCall,
  type PlannedWrites,
  planSubresource,
  routeSubresource,
  type SubresourcePlan,
  writeRefusal,
} from "@virtkit/api/subresources/server";
import type { JsonPatchOperation } from "@virtkit/kube";
import { parse } from "yaml";
import type { BatchFunction } from "../batch/batch-area.ts";
import { applyJsonPatch, PatchError } from "../reconcile/apply-json-patch.ts";
import { writeAsGo } from "./go-form.ts";
import { stringField } from "./input-fields.ts";
import { RecordedLookup, stored } from "./recorded-lookup.ts";
import { contextConfig } from "./request-context.ts";

/** The functions of area `subresources`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "subresource-authorize": (input, context) => {
    const request = {
      method: stringField(input, "method"),
      path: stringField(input, "path"),
      headers: listsOf(at(input, "headers")),
    };
    const question = accessQuestion(request);
    if (question.kind === "open") return { allowed: true };
    if (at(input, "authenticated") !== true || question.kind === "denied")
      return { allowed: false };
    return { allowed: at(context, "accessAllowed") ?? true, review: question.spec };
  },

  "subresource-request": async (input, context) => {
    const [path = "", query = ""] = stringField(input, "path")
      .replace("{guestPort}", String(guestPort))
      .replace("{closedPort}", String(closedPort))
      .split("?");
    const routed = routeSubresource(stringField(input, "method"), path);
    if ("code" in routed) return unanswered(routed.code, { plainText: true });
    const headers = at(input, "headers");
    const contentType = at(headers, "Content-Type");
    const plan = await settled(() =>
      planSubresource(
        {
          ...routed,
          query: Object.fromEntries(new URLSearchParams(query)),
          body: text(at(input, "body")),
          contentType: Array.isArray(contentType) ? String(contentType[0]) : undefined,
          upgrade: at(input, "websocket") === true,
        },
        { config: contextConfig(context), lookup: new RecordedLookup(input, context), parse },
      ),
    );
    return carriedOut(plan, input, context);
  },
};

const guestPort = 40_001;
const closedPort = 40_002;

async function settled(run: () => Promise<SubresourcePlan>): Promise<SubresourcePlan> {
  try {
    return await run();
  } catch (error) {
    const message = `a read failed: ${String(error)}`;
    return { kind: "refused", code: 500, reason: "InternalError", message };
  }
}

function unanswered(code: number, more: object = {}): unknown {
  return { code, actions: [], handler: [], ...more };
}

function carriedOut(plan: SubresourcePlan, input: unknown, context: unknown): unknown {
  switch (plan.kind) {
    case "refused":
      return plan.code === 415 ? unanswered(415, { plainText: true }) : refusal(plan);
    case "answer":
      return unanswered(plan.code, plan.body === undefined ? {} : { body: asGo(plan.body) });
    case "dial": {
      const dialed = plan.port === guestPort && plan.protocol === "tcp";
      return { ...object(unanswered(101)), handler: dialed ? [{ guestDialed: "tcp" }] : [] };
    }
    case "writes":
      return written(plan, input, context);
    case "node":
      return asked(plan, context);
  }
}

function object(value: unknown): object {
  return value as object;
}

function refusal({ code, reason, message, details }: Refusal, more: object = {}): object {
  const about = details ? { details: { group: "kubevirt.io", ...details } } : {};
  return { code, reason, message, ...about, actions: [], handler: [], ...more };
}

function asGo(body: unknown): unknown {
  return at(body, "kind") === "VirtualMachine" ? writeAsGo(body, VirtualMachineSchema) : body;
}

/** The API server of the context, which refuses as it says. */
function written({ writes, code, undo }: PlannedWrites, input: unknown, context: unknown): unknown {
  const actions: unknown[] = [];
  for (const [index, write] of writes.entries()) {
    actions.push(action(write));
    const failure = failureOf(write, input, context);
    if (!failure) continue;
    if (index > 0 && undo) actions.push(action(undo));
    return refusal(writeRefusal(write, failure), { actions });
  }
  return { code, actions, handler: [] };
}

function failureOf(
  write: Write,
  input: unknown,
  context: unknown,
): Parameters<typeof writeRefusal>[1] | undefined {
  const on = at(context, "patchErrorOn");
  const planned = isSet(on) && on !== write.resource ? undefined : at(context, "patchError");
  if (planned === "testFailed") return { kind: "test-failed", message: "a test failed" };
  if (planned === "invalid") {
    const details = { kind: "VirtualMachine", name: text(at(write, "name")) };
    return { kind: "invalid", message: "the object is invalid", details };
  }
  if (planned === "other") return { kind: "other", message: "the write failed" };
  if (write.kind !== "patch") return undefined;
  const target =
    write.resource === "virtualmachines"
      ? stored(at(input, "vm"), VirtualMachineSchema)
      : stored(at(input, "vmi"), VirtualMachineInstanceSchema);
  try {
    applyJsonPatch(target, write.patch as readonly JsonPatchOperation[]);
    return undefined;
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    return { kind: "test-failed", message: error.message };
  }
}

function action(write: Write): unknown {
  const { kind: verb, resource } = write;
  const dryRun = "dryRun" in write && write.dryRun ? { dryRun: ["All"] } : {};
  if (write.kind === "patch") {
    const { name, patch, subresource } = write;
    return { verb, resource, ...(subresource ? { subresource } : {}), name, patch, ...dryRun };
  }
  if (write.kind !== "create") return { verb, resource };
  const { metadata, spec } = write.object;
  return { verb, resource, object: { metadata, spec }, ...dryRun };
}

/** The node of the context, which answers as it says. */
function asked({ request, body, code }: PlannedNodeCall, context: unknown): unknown {
  const { method, success, answer } = nodeRoutes[request.subresource];
  const call = {
    method,
    path: nodeRequestPath(request),
    ...(body ? { body } : {}),
    ...(success === 101 ? { websocket: true } : {}),
  };
  const given = Number(at(context, "handler", "code") ?? 200);
  const sent = text(at(context, "handler", "body"));
  const handler = [call];
  if (given >= 300) return refusal(nodeRefusal(request, given, sent), { handler });
  if (success === 101) return { code: 101, actions: [], handler };
  if (answer === "image") return { code, actions: [], handler, rawBody: sent };
  if (answer === undefined) return { code, actions: [], handler };
  try {
    return { code, actions: [], handler, body: JSON.parse(sent) };
  } catch {
    return refusal(nodeRefusal(request, 200, "its answer is not JSON"), { handler });
  }
}

function listsOf(headers: unknown): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(Object(headers) as object).map(([name, values]) => [name, [values].flat()]),
  );
}
