import { clusterConfig } from "@virtkit/api/config";
import type {
  KubeVirtConfiguration,
  VirtualMachine,
  VirtualMachineInstance,
} from "@virtkit/api/schema";
import type { Environment } from "@virtkit/converter";
import { type ManifestDocument, readManifests } from "@virtkit/node-agent/manifests";
import { applyInstancetypes, isInstancetype } from "./apply-instancetypes.ts";
import type { Io } from "./io.ts";
import { readOneObject } from "./one-object.ts";
import { place } from "./place.ts";
import { UsageError } from "./usage-error.ts";

/** What to convert, and where it would run. */
export interface Conversion {
  readonly vmi: VirtualMachineInstance;
  readonly environment: Environment;
}

/**
 * The VMI in the files, or that of the VM in them with its instance type, and the environment in another one;
 * by default an ordinary environment. Throws with the place of what cannot be read.
 */
export async function readConversion(
  files: readonly string[],
  environmentFile: string | undefined,
  io: Io,
): Promise<Conversion> {
  const { documents, problems } = await readManifests(files, io);
  const [problem] = problems;
  if (problem) throw new Error(`${place(problem)}: ${problem.message}`);
  const objects = documents.filter((each) => !isInstancetype(each));
  const [document, second] = objects;
  if (!document || second) {
    const found = `not ${objects.length}`;
    throw new UsageError(`${files.join(", ")}: pass one object and its instance type, ${found}`);
  }
  if (!isVmOrVmi(document)) {
    const { kind } = Object(document.value) as { kind?: unknown };
    const message = `pass a VirtualMachineInstance or a VirtualMachine, not a ${String(kind)}`;
    throw new UsageError(message);
  }
  const applied = applyInstancetypes(document, documents);
  if ("complaints" in applied) throw new Error(applied.complaints.join("").trimEnd());
  return conversionOf(applied.document, await readEnvironment(environmentFile, io));
}

/** An environment in a file: with the relevant parts of the KubeVirt object. */
interface EnvironmentFile extends Omit<Environment, "config"> {
  readonly kubevirtConfiguration?: KubeVirtConfiguration;
  readonly kubevirtAnnotations?: Record<string, string>;
  readonly defaultArchitecture?: string;
}

/**
 * The environment in a file; by default an ordinary one. Throws an `ApiError` if the cluster's configuration in
 * it is invalid.
 */
export async function readEnvironment(file: string | undefined, io: Io): Promise<Environment> {
  if (file === undefined) return {};
  const wanted = 'an object such as {"blockVolumes": ["data"]}';
  const given: EnvironmentFile = (await readOneObject("--environment", file, wanted, io)).value;
  const { kubevirtConfiguration: configuration = {}, kubevirtAnnotations = {}, ...rest } = given;
  const { defaultArchitecture = "amd64", ...others } = rest;
  const config = clusterConfig({
    metadata: { annotations: kubevirtAnnotations },
    spec: { configuration },
    status: { defaultArchitecture },
  });
  return { ...others, config };
}

/** An object without a kind is read as a VMI, whose errors then say what is missing. */
export function isVmOrVmi({ value }: ManifestDocument): boolean {
  const { kind } = Object(value) as { kind?: unknown };
  return kind === undefined || kind === "VirtualMachineInstance" || kind === "VirtualMachine";
}

/**
 * The VMI itself, or the one that a VM's controller would create, in the namespace `default` if it has none:
 * the namespace is part of the domain's name.
 */
export function conversionOf({ value }: ManifestDocument, environment: Environment): Conversion {
  const { kind } = Object(value) as { kind?: unknown };
  if (kind !== "VirtualMachine") return { vmi: inNamespace(value), environment };
  const { metadata, spec } = value as VirtualMachine;
  const template = spec?.template;
  const vmi = {
    metadata: { ...template?.metadata, name: metadata?.name, namespace: metadata?.namespace },
    spec: template?.spec,
  };
  return {
    vmi: inNamespace(vmi),
    environment: { ownedByVM: true, ...environment },
  };
}

function inNamespace(value: unknown): VirtualMachineInstance {
  const { metadata } = Object(value) as { metadata?: unknown };
  const isNamed = typeof metadata === "object" && metadata !== null;
  if (!isNamed || (metadata as { namespace?: unknown }).namespace) {
    return value as VirtualMachineInstance;
  }
  const placed = { ...metadata, namespace: "default" };
  return { ...(value as VirtualMachineInstance), metadata: placed };
}
