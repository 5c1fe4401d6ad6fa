import { at } from "@virtkit/api/shape";
import type { Refusal, SubresourceOutcome } from "@virtkit/api/subresources";
import { readOptions, vmVerbs } from "@virtkit/api/subresources/server";
import { parse } from "yaml";
import { actions } from "./actions.ts";
import { AnswerError } from "./answer-error.ts";
import { stringField } from "./input-fields.ts";
import { vmAndVmiOf } from "./request.ts";

/** `subresource` of area `vm-status`: what virt-api answers to a verb. */
export function subresource(input: unknown): unknown {
  const name = stringField(input, "verb");
  if (!Object.hasOwn(vmVerbs, name)) {
    const message = `input.verb is "${name}"; use one of ${Object.keys(vmVerbs).join(", ")}`;
    throw new AnswerError({ path: "input.verb", message });
  }
  const outcome = answer(name as keyof typeof vmVerbs, input);
  return outcome.kind === "accepted"
    ? { code: outcome.code, actions: actions(outcome.writes) }
    : { code: outcome.code, reason: outcome.reason, message: outcome.message, actions: [] };
}

/** `start` checks the VM first and then the body; the others do it the other way round. */
function answer(name: keyof typeof vmVerbs, input: unknown): SubresourceOutcome {
  const { fields, before, fault, plan } = vmVerbs[name];
  const { vm, vmi } = vmAndVmiOf(input);
  const missing = at(input, "vm") ? undefined : notFound();
  const body = at(input, "body");
  const read = readOptions(typeof body === "string" ? body : "", fields, parse);
  const badBody = "kind" in read ? read : fault?.(read.options);
  const refusal = before ? (missing ?? before(vm, vmi) ?? badBody) : (badBody ?? missing);
  return refusal ?? plan(vm, vmi, "kind" in read ? {} : read.options);
}

function notFound(): Refusal {
  const message = "input.vm is missing: the virtualmachine does not exist";
  return { kind: "refused", code: 404, reason: "NotFound", message };
}
