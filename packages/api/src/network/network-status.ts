import { at, entry, isObject, type JsonObject, number, text } from "../shape.ts";

/** The annotation in which the CNI plugins report what they attached to a Pod. */
export const networkStatusAnnotation = "k8s.v1.cni.cncf.io/network-status";

/** The part of a Pod that the network functions read. */
export interface AnnotatedPod {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/** One attachment, as the network-status annotation lists it. */
export interface NetworkStatus {
  readonly name: string;
  /** Name of the interface in the Pod; empty if the plugin did not set it. */
  readonly interface: string;
  readonly mac: string;
  readonly mtu: number;
  readonly default: boolean;
  /** The device behind the interface, if there is one. */
  readonly deviceInfo?: JsonObject;
}

/** An annotation of a Pod, or an empty string. */
export function podAnnotation(pod: AnnotatedPod | undefined, name: string): string {
  return entry(at(pod, "metadata", "annotations"), name) ?? "";
}

/** What is attached to a Pod. An annotation that is missing or not a JSON list means nothing. */
export function networkStatuses(pod: AnnotatedPod | undefined): readonly NetworkStatus[] {
  const annotation = podAnnotation(pod, networkStatusAnnotation);
  // Most Pods have none, and an exception costs more than all of the rest.
  if (annotation === "") return [];
  const list = parse(annotation);
  return Array.isArray(list) ? list.map(networkStatus) : [];
}

/** The Pod's first interface, as the CNI named it. */
export function primaryInterfaceName(statuses: readonly NetworkStatus[]): string | undefined {
  return statuses.find((status) => status.default && status.interface !== "")?.interface;
}

/** Attachments by the name of the interface in the Pod; the later of two wins. */
export function statusesByInterface(
  statuses: readonly NetworkStatus[],
): ReadonlyMap<string, NetworkStatus> {
  return new Map(statuses.map((status) => [status.interface, status]));
}

function networkStatus(item: unknown): NetworkStatus {
  const deviceInfo = at(item, "device-info");
  return {
    name: text(at(item, "name")),
    interface: text(at(item, "interface")),
    mac: text(at(item, "mac")),
    mtu: number(at(item, "mtu")),
    default: at(item, "default") === true,
    ...(isObject(deviceInfo) ? { deviceInfo } : {}),
  };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
