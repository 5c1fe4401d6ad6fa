import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
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
import { goJsonError } from "./go-json-error.ts";
import { stringField } from "./input-fields.ts";
import { machinesOf, nested } from "./request.ts";

/** The name in the recorded requests, which is not in their input where there is no object. */
const requestedName = "testvm";

type Body = Readonly<Record<string, unknown>>;

interface Verb {
  /** Name of the options in Go's error texts. */
  readonly options: string;
  readonly fields: Readonly<Record<string, "bool" | "int64" | "[]string" | "map[string]string">>;
  /** What is refused before the body is read. */
  before?(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): Refusal | undefined;
  /** What is refused because of the body alone, before the VM is looked up. */
  fault?(body: Body): Refusal | undefined;
  plan(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined, body: Body): SubresourceOutcome;
}

const verbs: Readonly<Record<string, Verb>> = {
  start: {
    options: "StartOptions",
    fields: { paused: "bool", dryRun: "[]string" },
    before: startObstacle,
    plan: planStart,
  },
  stop: {
    options: "StopOptions",
    fields: { gracePeriod: "int64", dryRun: "[]string" },
    plan: planStop,
  },
  restart: {
    options: "RestartOptions",
    fields: { gracePeriodSeconds: "int64", dryRun: "[]string" },
    fault: restartRequestFault,
    plan: planRestart,
  },
  migrate: {
    options: "MigrateOptions",
    fields: { addedNodeSelector: "map[string]string", dryRun: "[]string" },
    plan: planMigrate,
  },
};

/** `subresource` of oracle area `vm-status`: what virt-api answers to a verb. */
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
  const { vm, vmi } = machinesOf(input);
  const missing = nested(input, "vm") ? undefined : notFound();
  const body = decode(nested(input, "body"), verb);
  const badBody = "problem" in body ? badRequest(body.problem) : verb.fault?.(body.value);
  const refusal = verb.before ? (missing ?? verb.before(vm, vmi) ?? badBody) : (badBody ?? missing);
  return refusal ?? verb.plan(vm, vmi, "value" in body ? body.value : {});
}

function notFound(): Refusal {
  const message = `virtualmachine.kubevirt.io "${requestedName}" not found`;
  return { kind: "refused", code: 404, reason: "NotFound", message };
}

function badRequest(problem: string): Refusal {
  const message = `Can not unmarshal Request body to struct, error: ${problem}`;
  return { kind: "refused", code: 400, reason: "BadRequest", message };
}

/** The body as JSON if it looks like it, else as YAML, as virt-api reads it. */
function decode(body: unknown, verb: Verb): { value: Body } | { problem: string } {
  const text = typeof body === "string" ? body : "";
  if (text.trim() === "") return { value: {} };
  const isJson = text.trimStart().startsWith("{");
  const syntax = isJson ? goJsonError(text) : undefined;
  if (syntax) return { problem: syntax };
  let value: unknown;
  try {
    value = isJson ? JSON.parse(text) : parse(text);
  } catch (error) {
    return { problem: String(error) };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { problem: `the body is ${typeof value}, not an object` };
  }
  const problem = typeProblem(value as Body, verb);
  return problem ? { problem } : { value: value as Body };
}

function typeProblem(body: Body, { options, fields }: Verb): string | undefined {
  for (const [field, type] of Object.entries(fields)) {
    const value = body[field];
    if (value === undefined || value === null || hasType(value, type)) continue;
    const found = Array.isArray(value)
      ? "array"
      : typeof value === "boolean"
        ? "bool"
        : typeof value;
    return `json: cannot unmarshal ${found} into Go struct field ${options}.${field} of type ${type}`;
  }
  return undefined;
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "bool":
      return typeof value === "boolean";
    case "int64":
      return Number.isInteger(value);
    case "[]string":
      return Array.isArray(value);
    default:
      return typeof value === "object" && !Array.isArray(value);
  }
}
