import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import type { Environment } from "@virtkit/converter";
import type { Io } from "./io.ts";
import { type ManifestDocument, readManifests } from "./manifests.ts";
import { readOneObject } from "./one-object.ts";
import { UsageError } from "./usage-error.ts";

/** What is converted, and where it would run. */
export interface Conversion {
  readonly vmi: VirtualMachineInstance;
  readonly environment: Environment;
}

/**
 * The VMI in a file, or that of the VM in it, and the environment in another one; an ordinary
 * environment if none is named. Throws with the place of what cannot be read.
 */
export async function readConversion(
  file: string,
  environmentFile: string | undefined,
  io: Io,
): Promise<Conversion> {
  const { documents, problems } = await readManifests([file], io);
  const [problem] = problems;
  if (problem) throw new Error(`${file}:${problem.line}:${problem.column}: ${problem.message}`);
  const [document, second] = documents;
  if (!document || second) {
    throw new UsageError(`${file}: give a file with one object, not ${documents.length}`);
  }
  if (!isMachine(document)) {
    const { kind } = Object(document.value) as { kind?: unknown };
    const message = `give a VirtualMachineInstance or a VirtualMachine, not a ${String(kind)}`;
    throw new UsageError(message);
  }
  return conversionOf(document, await readEnvironment(environmentFile, io));
}

/** The environment in a file; an ordinary one if none is named. */
export async function readEnvironment(file: string | undefined, io: Io): Promise<Environment> {
  if (file === undefined) return {};
  const wanted = 'an object such as {"blockVolumes": ["data"]}';
  return (await readOneObject("--environment", file, wanted, io)).value;
}

/** What says nothing of its kind is taken for a VMI, which then says what it lacks. */
export function isMachine({ value }: ManifestDocument): boolean {
  const { kind } = Object(value) as { kind?: unknown };
  return kind === undefined || kind === "VirtualMachineInstance" || kind === "VirtualMachine";
}

/** The VMI itself, or the one that a VM's controller would make. */
export function conversionOf({ value }: ManifestDocument, environment: Environment): Conversion {
  const { kind } = Object(value) as { kind?: unknown };
  if (kind !== "VirtualMachine") return { vmi: value as VirtualMachineInstance, environment };
  const { metadata, spec } = value as VirtualMachine;
  const template = spec?.template;
  const vmi = {
    metadata: { ...template?.metadata, name: metadata?.name, namespace: metadata?.namespace },
    spec: template?.spec,
  };
  return {
    vmi: vmi as VirtualMachineInstance,
    environment: { ownedByVM: true, ...environment },
  };
}
