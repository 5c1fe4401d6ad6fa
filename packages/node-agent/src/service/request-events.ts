import type { Clock } from "@virtkit/api/clock";
import { names as defaultNames, type Names } from "@virtkit/api/names";
import type { Observers } from "@virtkit/api/observe";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { defineResource, type KubeClient, type KubeObject, type Resource } from "@virtkit/kube";
import { EventRecorder } from "@virtkit/kube/writes";
import type { RequestEvent } from "../guest-server/answer-call.ts";

/** Options of {@link RequestEvents}. */
export interface RequestEventsOptions extends Observers {
  readonly client: Pick<KubeClient, "create" | "patch">;
  readonly nodeName: string;
  readonly names?: Names;
  readonly clock?: Clock;
}

/**
 * Writes the events that requests cause for their VMIs, such as `Paused`: for `recordEvent` of `startGuestServer`. Disposal
 * ends it; what is not written by then is dropped.
 */
export class RequestEvents implements AsyncDisposable {
  readonly #recorder: EventRecorder;
  readonly #vmis: Resource;

  constructor({ client, nodeName, names = defaultNames(), ...rest }: RequestEventsOptions) {
    this.#recorder = new EventRecorder({
      ...rest,
      client,
      component: "virt-handler",
      host: nodeName,
    });
    this.#vmis = defineResource({
      ...{ group: names.groups.core, version: "v1" },
      ...{ plural: "virtualmachineinstances", kind: "VirtualMachineInstance" },
    });
  }

  /** Never waits and never throws. */
  readonly record = (vmi: VirtualMachineInstance, event: RequestEvent): void => {
    this.#recorder.record(this.#vmis, vmi as KubeObject, event);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#recorder.close();
  }
}
