import type { VirtualMachineInstanceResourceClaim } from "@virtkit/api/schema";
import { invalidContext } from "../converter-error.ts";
import { jsonStream } from "./json-stream.ts";

/**
 * A device that a resource claim assigned. With a UUID it is a mediated one, whose address, if any, is that of
 * its parent; a network function only has an address.
 */
export interface ClaimedDevice {
  readonly uuid?: string;
  readonly pciAddress?: string;
}

const directory = "var/run/kubernetes.io/dra-device-attributes";
const suffix = "-metadata.json";
const supportedVersion = "metadata.resource.k8s.io/v1alpha1";

/**
 * Reads, from the metadata that a driver put into the Pod, which device a request got.
 *
 * @throws ConverterError unless there is exactly one.
 */
export function claimedDevice(
  files: Readonly<Record<string, string>>,
  claims: readonly VirtualMachineInstanceResourceClaim[],
  claim: string,
  request: string,
  path: string,
): ClaimedDevice {
  const fail = (message: string): never => {
    throw invalidContext(
      "hostFiles",
      `${message} (claim "${claim}", request "${request}", ${path})`,
    );
  };
  const entry = claims.find(({ name }) => name === claim);
  if (!entry) return fail("the VMI has no such claim");
  const folder = entry.resourceClaimName
    ? `${directory}/resourceclaims/${entry.resourceClaimName}/${request}/`
    : `${directory}/resourceclaimtemplates/${entry.name}/${request}/`;
  const names = Object.keys(files).filter((name) => isMetadataFile(name, folder));
  const [name] = names;
  if (name === undefined) return fail(`there is no metadata in /${folder}`);
  if (names.length > 1) return fail(`/${folder} has metadata of more than one driver`);
  const device = deviceOf(files[name] ?? "", request);
  return typeof device === "string" ? fail(`/${name} ${device}`) : device;
}

function isMetadataFile(name: string, folder: string): boolean {
  if (!name.startsWith(folder) || !name.endsWith(suffix)) return false;
  return !name.slice(folder.length).includes("/");
}

/** The device in a metadata file, or what is wrong with the file. */
function deviceOf(text: string, request: string): ClaimedDevice | string {
  const document = documentOf(text);
  if (typeof document === "string") return document;
  const found = list(document["requests"]).find(({ name }) => name === request);
  if (!found) return "does not have the request";
  const [device, ...others] = list(found["devices"]);
  if (!device || others.length > 0) return "must have one device for the request";
  const attributes = record(device["attributes"]);
  const uuid = record(attributes["mdevUUID"])["string"];
  const pciAddress = record(attributes["resource.kubernetes.io/pciBusID"])["string"];
  return { ...(isText(uuid) ? { uuid } : {}), ...(isText(pciAddress) ? { pciAddress } : {}) };
}

/**
 * The first document of the supported version, or what is wrong with the file. A driver writes the newest
 * version first; what follows the supported one is not read.
 */
function documentOf(text: string): Record<string, unknown> | string {
  try {
    for (const document of jsonStream(text)) {
      const { apiVersion } = record(document);
      if (apiVersion === supportedVersion) return record(document);
      if (!isText(apiVersion)) return "has a document without a version";
    }
  } catch (error) {
    return `is not JSON: ${(error as Error).message}`;
  }
  return `has no document of version ${supportedVersion}`;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}
