import type { WatchEvent } from "../client/kube-client.ts";
import { KubeError } from "../client/kube-error.ts";
import type { KubeObject } from "../client/kube-object.ts";
import { compareVersions } from "./compare-versions.ts";
import type { ReflectorEvent } from "./reflector-event.ts";

/** The annotation of the bookmark that ends the objects that exist. */
const initialEventsEnd = "k8s.io/initial-events-end";

/** The position of a reflector in the history of its resource, and what a watch event means there. */
export class WatchPosition<T extends KubeObject> {
  readonly #transform: (object: T) => T;
  #version: string | undefined;
  #isListing = false;

  constructor(transform: (object: T) => T) {
    this.#transform = transform;
  }

  /** Everything up to this version has been reported; undefined before the list is complete, and after a gap. */
  get version(): string | undefined {
    return this.#version;
  }

  /** A new list is needed. */
  lose(): void {
    this.#version = undefined;
    this.#isListing = false;
  }

  /** The list is complete. */
  listed(version: string | undefined): ReflectorEvent<T> {
    this.#version = version;
    this.#isListing = false;
    return { type: "initDone" };
  }

  /** One object of a list. */
  object(object: T): ReflectorEvent<T> {
    return { type: "apply", object: this.#transform(object) };
  }

  /**
   * What is reported to the consumer for an event; nothing for a repeated one. One that is out of order shows
   * that others may be missing, and throws.
   */
  take(event: WatchEvent<T>): readonly ReflectorEvent<T>[] {
    if (this.#version === undefined) return this.#takeOfList(event);
    const { resourceVersion, name } = event.object.metadata;
    const order = resourceVersion && compareVersions(resourceVersion, this.#version);
    if (typeof order === "number" && order < 0) {
      const from = `from version ${this.#version} to ${resourceVersion}`;
      const message = `the watch went back ${from} with ${event.type} ${name}; all objects are listed again`;
      throw new KubeError("KUBE_ANSWER_INVALID", message);
    }
    this.#version = resourceVersion ?? this.#version;
    return order === 0 || event.type === "BOOKMARK" ? [] : [this.#told(event.type, event.object)];
  }

  // The objects that exist come in any order.
  #takeOfList(event: WatchEvent<T>): readonly ReflectorEvent<T>[] {
    const told: ReflectorEvent<T>[] = this.#isListing ? [] : [{ type: "init" }];
    this.#isListing = true;
    const { annotations, resourceVersion } = event.object.metadata;
    if (event.type !== "BOOKMARK") told.push(this.#told(event.type, event.object));
    else if (annotations?.[initialEventsEnd] === "true") told.push(this.listed(resourceVersion));
    return told;
  }

  #told(type: "ADDED" | "MODIFIED" | "DELETED", object: T): ReflectorEvent<T> {
    return { type: type === "DELETED" ? "delete" : "apply", object: this.#transform(object) };
  }
}
