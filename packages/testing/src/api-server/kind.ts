import type { KubeObject, Resource, StatusCause } from "@virtkit/kube";
import type { Authorizer } from "./authorizer.ts";

/** A Kubernetes object with the parts that most kinds have. */
export interface AnyObject extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** How a server treats the objects of one resource. */
export interface Kind {
  readonly resource: Resource;
  /** Whether `status` is written apart from the rest. */
  readonly statusSubresource: boolean;
  /** Whether a change of anything but metadata and status raises `metadata.generation`. */
  readonly counted: boolean;
  /** Whether an update may leave the resource version out. */
  readonly unconditionalUpdate: boolean;
  /** Whether a write through `status` also takes labels and annotations. */
  readonly statusTakesMetadata: boolean;
  /** Whether strategic merge patches are taken; not of custom resources. */
  readonly strategicPatch: boolean;
  /** Fields for selectors besides name and namespace. */
  readonly fields: readonly string[];
  /** Fills in and drops what the server does for a new object. */
  readonly created?: (object: AnyObject) => AnyObject;
  /** The same for a changed one. */
  readonly updated?: (object: AnyObject, previous: AnyObject) => AnyObject;
  /** What is wrong with an object. */
  readonly problems?: (
    object: AnyObject,
    previous: AnyObject | undefined,
  ) => readonly StatusCause[];
  /** Answers a create at once; then nothing is stored, and there is no other verb. */
  readonly answer?: (
    object: AnyObject,
    asked: { readonly user: string; readonly authorizer: Authorizer },
  ) => AnyObject;
  /** For how long an object stays after its deletion; 0 removes it at once. */
  readonly gracePeriod?: (object: AnyObject, asked: number | undefined) => number;
}

/** An ordinary kind: a spec whose changes are counted in `generation`, and a separate status. */
export function plainKind(resource: Resource, rules: Partial<Kind> = {}): Kind {
  return {
    resource,
    statusSubresource: true,
    counted: true,
    unconditionalUpdate: true,
    statusTakesMetadata: true,
    strategicPatch: true,
    fields: [],
    ...rules,
  };
}

/** The key of a resource's kind: its group and its plural. */
export function kindKey({ group, plural }: Pick<Resource, "group" | "plural">): string {
  return `${group}/${plural}`;
}
