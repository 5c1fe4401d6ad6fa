import { admit, mutate } from "@virtkit/api/admission";
import { clusterConfig } from "@virtkit/api/config";
import {
  check,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { isConverterError } from "@virtkit/converter";
import { type ExplainedNode, type Explanation, explainFor } from "@virtkit/converter/explain";
import { type Problem, type YamlObject, yamlObject } from "./yaml-object.ts";

/** The result for a text. */
export interface Analysis {
  readonly problems: readonly Problem[];
  /** The domain and the reasons; missing if the text makes none. */
  readonly explanation: Explanation | undefined;
  /** Lines of the text that a part of the domain comes from. */
  linesOf(node: ExplainedNode): number[];
}

/** A fixed identity: a new one for every key press would be noise. */
const environment = { firmwareUUID: "00000000-0000-4000-8000-000000000000" };

/** Reads, checks, converts and explains a VMI; never throws. */
export function analyse(text: string): Analysis {
  const object = yamlObject(text);
  const problems = object.problems.length > 0 ? object.problems : problemsOf(object);
  const linesOf = (node: ExplainedNode): number[] => linesBehind(node, object);
  if (problems.length > 0) return { problems, explanation: undefined, linesOf };
  try {
    const explanation = explainFor(object.value as VirtualMachineInstance, environment);
    return { problems, explanation, linesOf };
  } catch (error) {
    const path = isConverterError(error) ? (error.path ?? "") : "";
    const message = error instanceof Error ? error.message : String(error);
    return {
      problems: [{ line: object.lineOf(steps(path)), message }],
      explanation: undefined,
      linesOf,
    };
  }
}

/** What the API server would refuse: first by the schema and, if that passes, by the webhooks. */
function problemsOf({ value, lineOf }: YamlObject): Problem[] {
  const { kind = "VirtualMachineInstance" } = Object(value) as { kind?: unknown };
  if (kind !== "VirtualMachineInstance") {
    return [{ line: lineOf(["kind"]), message: "give a VirtualMachineInstance" }];
  }
  const { issues } = check(VirtualMachineInstanceSchema, value, { strict: true, rules: true });
  if (issues.length > 0) {
    return issues.map(({ path, message }) => ({ line: lineOf(path), message }));
  }
  const config = clusterConfig();
  const request = { kind: "VirtualMachineInstance", operation: "CREATE" } as const;
  const mutation = mutate({ ...request, object: value }, config);
  const { causes } = mutation.allowed
    ? admit({ ...request, object: mutation.object }, config)
    : mutation;
  return causes.map(({ message }) => ({ line: lineOf(steps(message.split(" ", 1)[0])), message }));
}

function linesBehind({ sources }: ExplainedNode, { lineOf }: YamlObject): number[] {
  const fields = sources.filter(({ kind }) => kind === "field");
  return [...new Set(fields.map(({ path }) => lineOf(steps(path))))];
}

/** `spec.disks[0].name` and `metadata.labels["a/b"]` in steps. */
function steps(path = ""): (string | number)[] {
  const found = path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g);
  return Array.from(found, ([, key, index, name]) => (index ? Number(index) : (key ?? name ?? "")));
}
