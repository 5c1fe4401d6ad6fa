import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import type { Environment } from "@virtkit/converter";
import type { Io } from "./io.ts";
import { type ManifestDocument, readManifests } from "./manifests.ts";
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
  const { value } = await readOne(file, io);
  const environment = environmentFile === undefined ? {} : await readOne(environmentFile, io);
  return vmiOf(value, "value" in environment ? (environment.value as Environment) : {});
}

async function readOne(file: string, io: Io): Promise<ManifestDocument> {
  const { documents, problems } = await readManifests([file], io);
  const [problem] = problems;
  if (problem) throw new Error(`${file}:${problem.line}:${problem.column}: ${problem.message}`);
  const [document, second] = documents;
  if (!document || second) {
    throw new UsageError(`${file}: give a file with one object, not ${documents.length}`);
  }
  return document;
}

/** The VMI itself, or the one that a VM's controller would make. */
function vmiOf(value: unknown, environment: Environment): Conversion {
  const { kind } = Object(value) as { kind?: unknown };
  if (kind === undefined || kind === "VirtualMachineInstance") {
    return { vmi: value as VirtualMachineInstance, environment };
  }
  if (kind !== "VirtualMachine") {
    throw new UsageError(
      `give a VirtualMachineInstance or a VirtualMachine, not a ${String(kind)}`,
    );
  }
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
