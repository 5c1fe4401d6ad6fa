import {
  DataVolumeSpecSchema,
  VirtualMachineInstanceSchema,
  VirtualMachineSchema,
} from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import type { Write } from "@virtkit/api/status";
import { writeAsGo } from "./go-form.ts";

/** Writes as KubeVirt's fake clients record them: CDI's client first, then apps', then its own. */
export function actions(writes: readonly Write[]): readonly unknown[] {
  return inOrderOfApis(writes).map(action);
}

function inOrderOfApis(writes: readonly Write[]): readonly Write[] {
  const rank = ({ resource }: Write): number =>
    resource === "datavolumes" ? 0 : resource === "controllerrevisions" ? 1 : 2;
  return [...writes].sort((a, b) => rank(a) - rank(b));
}

function action(write: Write): unknown {
  const { resource } = write;
  switch (write.kind) {
    case "create":
      return resource === "controllerrevisions"
        ? { verb: "create", resource, name: at(write.object, "metadata", "name") }
        : { verb: "create", resource, object: created(resource, write.object) };
    case "update":
      return { verb: "update", resource, object: writeAsGo(write.object, VirtualMachineSchema) };
    case "delete":
      return { verb: "delete", resource, name: write.name };
    case "patch":
      return {
        verb: "patch",
        resource: write.subresource ? `${resource}/${write.subresource}` : resource,
        name: write.name,
        patchType: "application/json-patch+json",
        patch: write.patch,
      };
  }
}

function created(resource: string, object: Readonly<Record<string, unknown>>): unknown {
  if (resource === "virtualmachineinstances")
    return writeAsGo(object, VirtualMachineInstanceSchema);
  // KubeVirt creates these without their kind, which the typed client knows.
  const { apiVersion: _, kind: __, spec, ...rest } = object;
  const written = resource === "datavolumes" ? writeAsGo(spec, DataVolumeSpecSchema) : spec;
  return { ...rest, spec: written, status: {} };
}
