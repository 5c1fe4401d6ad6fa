import { constants } from "node:fs";
import { open } from "node:fs/promises";
import {
  typeProblem,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
} from "@virtkit/api/schema";
import { parseAllDocuments } from "yaml";
import { NodeAgentError } from "../node-agent-error.ts";
import { stableUuid } from "../stable-uuid.ts";

/** A manifest is written by hand: this is a hundred times what the largest has. */
const mostBytes = 4 * 1024 * 1024;
const mostDocuments = 1000;
const mostAliases = 100;

/**
 * The VMIs of a file of YAML or JSON, one or more documents. One without a namespace is in `default`;
 * one without a UID gets one that is always the same for its namespace and name.
 *
 * @throws NodeAgentError `AGENT_MANIFEST` with the file and the field, where it is too large, no YAML,
 *   or holds something else than VMIs: it is taken as a whole or not at all.
 */
export async function readManifests(path: string): Promise<readonly VirtualMachineInstance[]> {
  return parseManifests(await readBounded(path), path);
}

/** {@link readManifests} of a text. */
export function parseManifests(text: string, path: string): readonly VirtualMachineInstance[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  if (documents.length > mostDocuments) {
    throw broken(path, `over ${mostDocuments} documents; use several files`);
  }
  return documents.flatMap((document, at) => {
    const place = documents.length === 1 ? path : `${path}#${at + 1}`;
    const [fault] = document.errors;
    if (fault) throw broken(place, `no YAML: ${fault.message.split("\n")[0]}`, fault);
    const value = plain(document, place);
    return value === null || value === undefined ? [] : [vmiOf(value, place)];
  });
}

function plain(document: { toJS(options: { maxAliasCount: number }): unknown }, place: string) {
  try {
    return document.toJS({ maxAliasCount: mostAliases });
  } catch (cause) {
    throw broken(place, "its aliases make it too large; write it out", cause);
  }
}

function vmiOf(value: unknown, place: string): VirtualMachineInstance {
  const { kind } = Object(value) as { kind?: unknown };
  if (kind !== "VirtualMachineInstance") {
    const found = JSON.stringify(kind)?.slice(0, 60) ?? "nothing";
    throw broken(place, `kind is ${found}; only a VirtualMachineInstance is run`);
  }
  const problem = typeProblem(VirtualMachineInstanceSchema, value);
  if (problem) throw broken(place, problem.message);
  const vmi = value as VirtualMachineInstance;
  const { name, namespace = "default" } = vmi.metadata ?? {};
  if (!name) throw broken(place, "metadata.name: there is none; give it a name");
  if (!vmi.spec?.domain) throw broken(place, "spec.domain: there is none; a guest needs one");
  const uid = vmi.metadata?.uid ?? stableUuid("vmi", namespace, name);
  return { ...vmi, metadata: { ...vmi.metadata, name, namespace, uid } };
}

async function readBounded(path: string): Promise<string> {
  try {
    // A pipe would block, a device may do anything.
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
