import type { AppliedInstancetype } from "@virtkit/api/admission";
import {
  type SchemaNode,
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
  VirtualMachineSchema,
} from "@virtkit/api/schema";
import { at, isSet, objects, text } from "@virtkit/api/shape";
import type { SubresourceLookup } from "@virtkit/api/subresources/server";
import { writeAsGo } from "./go-form.ts";

/** The cluster of a recorded request. */
export class RecordedLookup implements SubresourceLookup {
  readonly #input: unknown;
  readonly #context: unknown;

  constructor(input: unknown, context: unknown) {
    this.#input = input;
    this.#context = context;
  }

  async virtualMachine(): Promise<VirtualMachine | undefined> {
    this.#mayFail("virtualmachines");
    return stored(at(this.#input, "vm"), VirtualMachineSchema) as VirtualMachine | undefined;
  }

  async virtualMachineInstance(): Promise<VirtualMachineInstance | undefined> {
    this.#mayFail("virtualmachineinstances");
    const vmi = stored(at(this.#input, "vmi"), VirtualMachineInstanceSchema);
    return vmi as VirtualMachineInstance | undefined;
  }

  async nodeAgent(node: string): Promise<string | undefined> {
    return at(this.#context, "handlerPod") === false || node !== "node01" ? undefined : node;
  }

  async node(name: string): Promise<unknown> {
    this.#mayFail("nodes");
    return this.#named("nodes", name);
  }

  async persistentVolumeClaim(_namespace: string, name: string): Promise<unknown> {
    this.#mayFail("persistentvolumeclaims");
    return this.#named("persistentVolumeClaims", name);
  }

  async persistentVolumeClaims(
    _namespace: string,
    { key, value }: { readonly key: string; readonly value: string },
  ): Promise<readonly unknown[]> {
    return objects(at(this.#context, "persistentVolumeClaims")).filter(
      (claim) => at(claim, "metadata", "labels", key) === value,
    );
  }

  async launcherPods(): Promise<readonly unknown[]> {
    this.#mayFail("pods");
    return objects(at(this.#context, "pods"));
  }

  async cdiConfig(): Promise<unknown> {
    this.#mayFail("cdiconfigs");
    return at(this.#context, "cdiConfig");
  }

  async instancetypeOf(
    vm: VirtualMachine,
  ): Promise<AppliedInstancetype | { readonly missing: string }> {
    const instancetype = this.#matched(vm, "instancetype");
    const preference = this.#matched(vm, "preference");
    for (const [kind, found] of Object.entries({ instancetype, preference })) {
      if (found === "missing")
        return { missing: `spec.${kind} names an object that does not exist` };
    }
    return { instancetype, preference } as AppliedInstancetype;
  }

  #matched(vm: VirtualMachine, kind: "instancetype" | "preference"): unknown {
    const name = text(at(vm, "spec", kind, "name"));
    if (!name) return undefined;
    const found = this.#named(`${kind}s`, name);
    return found ? (at(found, "spec") ?? {}) : "missing";
  }

  #named(list: string, name: string): unknown {
    return objects(at(this.#context, list)).find((item) => at(item, "metadata", "name") === name);
  }

  #mayFail(resource: string): void {
    if (at(this.#context, "getError") === resource) throw new Error(`${resource} cannot be read`);
  }
}

/** An object as the recorded API server stored it: written by Go, which drops empty fields. */
export function stored(object: unknown, schema: SchemaNode): unknown {
  return isSet(object) ? writeAsGo(object, schema) : undefined;
}
