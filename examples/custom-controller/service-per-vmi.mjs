import { names } from "@virtkit/api/names";
import { defineResource } from "@virtkit/kube";
import { Cache } from "@virtkit/kube/cache";
import { controllerOf, createController, terminalError, watch } from "@virtkit/kube/controller";
import { isControlledBy, isDeleting, ownerReferenceTo, patchObject } from "@virtkit/kube/writes";

/** @typedef {import("@virtkit/kube").KubeObject} KubeObject */
/** @typedef {{ selector: Record<string, string>, ports: { name: string, port: number }[] }} Spec */
/** @typedef {KubeObject & { spec: Spec }} Service */

export const annotation = "example.com/expose";
const { groups, labels } = names();
const [plural, kind] = ["virtualmachineinstances", "VirtualMachineInstance"];
export const vmis = defineResource({ group: groups.core, version: "v1", plural, kind });
/** @type {import("@virtkit/kube").Resource<Service>} */
export const services = defineResource({ version: "v1", plural: "services", kind: "Service" });

/** The Service that a VMI requests, for example with `example.com/expose: "22,80"`. @param {KubeObject} vmi */
export function serviceFor(vmi) {
  const { name = "", namespace = "", uid = "", annotations } = vmi.metadata;
  const value = annotations?.[annotation];
  if (value === undefined || isDeleting(vmi)) return undefined;
  const ports = value.split(",").map((text) => ({ name: `port-${text}`, port: Number(text) }));
  if (!ports.every(({ port }) => Number.isInteger(port) && port > 0 && port < 65_536)) {
    throw terminalError(
      `${annotation} is "${value}"; it must be a list of ports, for example "22,80"`,
    );
  }
  const metadata = { name, namespace, ownerReferences: [ownerReferenceTo(vmis, vmi)] };
  return { metadata, spec: { selector: { [labels.createdBy]: uid }, ports } };
}

/** The ports by number; the server adds other fields to the request. @param {Service} service */
const portsOf = ({ spec }) => spec.ports.map(({ port }) => port).join();

/** Maintains a Service for each VMI that requests one. @param {import("@virtkit/kube").KubeClient} client */
export function servicePerVmi(client, observers = {}) {
  const [vmiCache, serviceCache] = [new Cache(vmis), new Cache(services)];
  return createController({
    name: "service-per-vmi",
    client,
    watches: [watch(vmiCache), watch(serviceCache, { keys: controllerOf(vmis) })],
    async reconcile(object, { signal }) {
      const [vmi, known] = [vmiCache.get(object), serviceCache.get(object)];
      // When a VMI is gone, the owner reference removes its Service.
      if (vmi.state !== "present" || known.state === "unknown") return;
      const wanted = serviceFor(vmi.object);
      if (known.state === "present") {
        await adjust(known.object, vmi.object, wanted, signal);
      } else if (wanted) await client.create(services, wanted, { signal });
    },
    ...observers,
  });

  /** @type {(service: Service, vmi: KubeObject, wanted?: Service, signal?: AbortSignal) => Promise<void>} */
  async function adjust(service, vmi, wanted, signal) {
    const { name = "", namespace = "", uid } = service.metadata;
    if (!isControlledBy(service, vmi)) {
      if (wanted)
        throw terminalError(`Service ${name} does not belong to this VMI; rename one of them`);
    } else if (!wanted) {
      await client.delete(services, { namespace, name }, { preconditions: { uid }, signal });
    } else if (portsOf(wanted) !== portsOf(service)) {
      const changed = { ...service, spec: { ...service.spec, ports: wanted.spec.ports } };
      await patchObject(client, services, service, changed, { signal });
    }
  }
}
