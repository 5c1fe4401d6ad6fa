import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import {
  planMigrate,
  planRestart,
  planStart,
  planStop,
  type Refusal,
  restartRequestFault,
  type SubresourceOutcome,
  startObstacle,
} from "@virtkit/api/subresources";
import { parse } from "yaml";
import { actions } from "./actions.ts";
import { AnswerError } from "./answer-error.ts";
import { stringField } from "./input-fields.ts";
import { vmAndVmiOf } from "./request.ts";

type Body = Readonly<Record<string, unknown>>;

type FieldType = "boolean" | "whole number" | "list" | "object";

interface Verb {
  readonly fields: Readonly<Record<string, FieldType>>;
  /** What is refused before the body is read. */
  before?(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): Refusal | undefined;
  /** What is refused because of the body alone, before the VM is looked up. */
  fault?(body: Body): Refusal | undefined;
  plan(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined, body: Body): SubresourceOutcome;
}

const verbs: Readonly<Record<string, Verb>> = {
  start: {
    fields: { paused: "boolean", dryRun: "list" },
    before: startObstacle,
    plan: planStart,
  },
  stop: {
    fields: { gracePeriod: "whole number", dryRun: "list" },
    plan: planStop,
  },
  restart: {
    fields: { gracePeriodSeconds: "whole number", dryRun: "list" },
    fault: restartRequestFault,
    plan: planRestart,
  },
  migrate: {
    fields: { addedNodeSelector: "object", dryRun: "list" },
    plan: planMigrate,
  },
};

/** `subresource` of area `vm-status`: what virt-api answers to a verb. */
export function subresource(input: unknown): unknown {
  const name = stringField(input, "verb");
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (!verb) {
    const message = `input.verb is "${name}"; use one of ${Object.keys(verbs).join(", ")}`;
    throw new AnswerError({ path: "input.verb", message });
  }
  const outcome = answer(verb, input);
  return outcome.kind === "accepted"
    ? { code: outcome.code, actions: actions(outcome.writes) }
    : { code: outcome.code, reason: outcome.reason, message: outcome.message, actions: [] };
}

/** `start` looks at the VM first and at the body then; the others the other way round. */
function answer(verb: Verb, input: unknown): SubresourceOutcome {
  const { vm, vmi } = vmAndVmiOf(input);
  const missing = at(input, "vm") ? undefined : notFound();
  const body = decode(at(input, "body"), verb);
  const badBody = "problem" in body ? badRequest(body.problem) : verb.fault?.(body.value);
  const refusal = verb.before ? (missing ?? verb.before(vm, vmi) ?? badBody) : (badBody ?? missing);
  return refusal ?? verb.plan(vm, vmi, "value" in body ? body.value : {});
}

function notFound(): Refusal {
  const message = "input.vm is missing: there is no such virtualmachine";
  return { kind: "refused", code: 404, reason: "NotFound", message };
}

function badRequest(message: string): Refusal {
  return { kind: "refused", code: 400, reason: "BadRequest", message };
}

/** The body as JSON, or if it is none as YAML, as virt-api reads it; an empty one says nothing. */
function decode(body: unknown, verb: Verb): { value: Body } | { problem: string } {
  const text = typeof body === "string" ? body : "";
  if (text.trim() === "") return { value: {} };
  let value: unknown;
  try {
    value = jsonOrYaml(text) ?? {};
  } catch (error) {
    return { problem: `the body is neither JSON nor YAML: ${(error as Error).message}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { problem: `the body is a ${typeName(value)}; give an object` };
  }
  const problem = typeProblem(value as Body, verb);
  return problem ? { problem } : { value: value as Body };
}

function jsonOrYaml(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return parse(text);
  }
}

function typeProblem(body: Body, { fields }: Verb): string | undefined {
  for (const [field, type] of Object.entries(fields)) {
    const value = body[field];
    if (value === undefined || value === null || hasType(value, type)) continue;
    return `${field} of the body is a ${typeName(value)}; give a ${type}`;
  }
  return undefined;
}

function typeName(value: unknown): string {
  return Array.isArray(value)
    ? "list"
    : Number.isFinite(value)
      ? `number (${value})`
      : typeof value;
}

function hasType(value: unknown, type: FieldType): boolean {
  switch (type) {
    case "boolean":
      return typeof value === "boolean";
    case "whole number":
      return Number.isInteger(value);
    case "list":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && !Array.isArray(value);
  }
}
