import { realClock } from "@virtkit/api/clock";
import { noMetrics, silentLog } from "@virtkit/api/observe";
import { realRandom } from "@virtkit/api/random";
import { objectKey } from "../cache/object-key.ts";
import { KubeError } from "../client/kube-error.ts";
import type { Controller, ControllerOptions } from "./controller-options.ts";
import { ControllerRun } from "./controller-run.ts";

/**
 * Creates a controller: changes that its watches see put objects into a queue, and each object in the queue is
 * reconciled. `Reconciler` describes the contract.
 *
 * @example
 * const vmiResource = defineResource({
 *   group: "kubevirt.io",
 *   version: "v1",
 *   plural: "virtualmachineinstances",
 *   kind: "VirtualMachineInstance",
 * });
 * const vmis = new Cache(vmiResource);
 * const services = new Cache(defineResource({ version: "v1", plural: "services", kind: "Service" }));
 * const controller = createController({
 *   name: "demo",
 *   client,
 *   watches: [watch(vmis), watch(services, { keys: controllerOf(vmiResource) })],
 *   reconcile: async ({ namespace, name }) => console.log(namespace, name),
 * });
 * await controller.run({ signal });
 */
export function createController(options: ControllerOptions): Controller {
  const settings = {
    concurrency: 1,
    deadline: 120_000,
    mostBlind: 300_000,
    clock: realClock,
    random: realRandom,
    log: silentLog,
    metrics: noMetrics,
    ...definedOnly(options),
  };
  let current: ControllerRun | undefined;
  return {
    name: options.name,
    async run({ signal } = {}) {
      if (current) {
        throw new KubeError("KUBE_INPUT_INVALID", `controller ${options.name} is already running`, {
          path: "run",
        });
      }
      current = new ControllerRun(settings, signal);
      try {
        await current.run();
      } finally {
        current = undefined;
      }
    },
    stop: async ({ grace = 30_000 } = {}) => await current?.stop(grace),
    enqueue: (object, { after = 0, priority = options.priority?.(object) ?? "normal" } = {}) =>
      current?.enqueue(objectKey(object), after, priority),
    watches: () => current?.watches() ?? [],
    problems: () => current?.problems() ?? [],
  };
}

/** An option that is given as undefined has its default. */
function definedOnly<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
