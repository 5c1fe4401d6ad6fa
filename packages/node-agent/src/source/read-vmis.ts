import { constants } from "node:fs";
import { open } from "node:fs/promises";
import {
  typeProblem,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { parseManifests } from "../manifests/index.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import { stableUuid } from "../stable-uuid.ts";

/** A manifest is written by hand: this is a hundred times the size of the largest. */
const mostBytes = 4 * 1024 * 1024;

/**
 * The VMIs in a YAML or JSON file: one or more documents, or lists of them. One without a namespace is in
 * `default`; one without a UID gets one that is always the same for its namespace and name.
 *
 * @throws NodeAgentError `AGENT_MANIFEST` with the file and the field, if the file is too large, is not YAML,
 *   or contains nothing or anything but VMIs: it is accepted as a whole or not at all.
 */
export async function readVmis(path: string): Promise<readonly VirtualMachineInstance[]> {
  return parseVmis(await readBounded(path), path);
}

/** {@link readVmis} of a string. */
export function parseVmis(text: string, path: string): readonly VirtualMachineInstance[] {
  const { documents, problems } = parseManifests(text, path);
  const [problem] = problems;
  if (problem) throw broken(path, `line ${problem.line}: ${problem.message}`);
  return documents.map(({ value, position }) => {
    try {
      return vmiOf(value);
    } catch (error) {
      throw broken(path, `line ${position([]).line}: ${(error as Error).message}`);
    }
  });
}

function vmiOf(value: unknown): VirtualMachineInstance {
  const { kind } = Object(value) as { kind?: unknown };
  if (kind !== "VirtualMachineInstance") {
    const found = JSON.stringify(kind)?.slice(0, 60) ?? "nothing";
    throw new Error(`kind is ${found}; only a VirtualMachineInstance can be run`);
  }
  const problem = typeProblem(VirtualMachineInstanceSchema, value);
  if (problem) throw new Error(problem.message);
  const vmi = value as VirtualMachineInstance;
  const { name, namespace = "default" } = vmi.metadata ?? {};
  if (!name) throw new Error("metadata.name: missing; name the VMI");
  if (!vmi.spec?.domain) throw new Error("spec.domain: missing; a guest needs one");
  const uid = vmi.metadata?.uid ?? stableUuid("vmi", namespace, name);
  return { ...vmi, metadata: { ...vmi.metadata, name, namespace, uid } };
}

async function readBounded(path: string): Promise<string> {
  try {
    // A pipe would block, and a device may do anything.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await file.stat();
      if (!status.isFile()) throw broken(path, "not a regular file");
      if (status.size > mostBytes) throw broken(path, `over ${mostBytes} bytes`);
      const buffer = Buffer.alloc(mostBytes + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (length > mostBytes) throw broken(path, `over ${mostBytes} bytes`);
        if (bytesRead === 0) return buffer.toString("utf8", 0, length);
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof NodeAgentError) throw cause;
    throw broken(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function broken(place: string, what: string, cause?: unknown): NodeAgentError {
  return new NodeAgentError("AGENT_MANIFEST", `${place}: ${what}`, { path: place, cause });
}
