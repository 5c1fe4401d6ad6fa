import {
  anyObject,
  array,
  boolean,
  int64,
  type JsonObject,
  map,
  nullable,
  object,
  required,
  type Schema,
  string,
} from "../schema.ts";
import { type Time, TimeSchema } from "../time.ts";

/** A set of fields in the API server's own notation; kept unchanged. */
export type FieldsV1 = JsonObject;

export const FieldsV1Schema: Schema<FieldsV1> = anyObject();

/** Who set which fields, for server-side apply. */
export interface ManagedFieldsEntry {
  apiVersion?: string;
  fieldsType?: string;
  fieldsV1?: FieldsV1;
  /** The program that set the fields. */
  manager?: string;
  operation?: string;
  subresource?: string;
  time?: Time;
}

export const ManagedFieldsEntrySchema: Schema<ManagedFieldsEntry> = object<ManagedFieldsEntry>({
  apiVersion: string,
  fieldsType: string,
  fieldsV1: FieldsV1Schema,
  manager: string,
  operation: string,
  subresource: string,
  time: TimeSchema,
});

/** The owner of this object; the object is garbage-collected with it. */
export interface OwnerReference {
  apiVersion: string;
  /** Whether a foreground deletion of the owner waits for this object. */
  blockOwnerDeletion?: boolean;
  /** Whether the owner manages this object; at most one owner does. */
  controller?: boolean;
  kind: string;
  name: string;
  uid: string;
}

export const OwnerReferenceSchema: Schema<OwnerReference> = object<OwnerReference>({
  apiVersion: required(string),
  blockOwnerDeletion: boolean,
  controller: boolean,
  kind: required(string),
  name: required(string),
  uid: required(string),
});

/** Name, labels and administrative fields of every object. */
export interface ObjectMeta {
  annotations?: Record<string, string>;
  creationTimestamp?: Time | null;
  deletionGracePeriodSeconds?: number;
  /** Set once deletion was requested; the object stays until it has no finalizers. */
  deletionTimestamp?: Time;
  /** What must be cleaned up before the object is deleted. */
  finalizers?: string[];
  /** Prefix of a name that the API server completes. */
  generateName?: string;
  /** Increases by one with each change of the spec. */
  generation?: number;
  labels?: Record<string, string>;
  managedFields?: ManagedFieldsEntry[];
  name?: string;
  namespace?: string;
  ownerReferences?: OwnerReference[];
  /** Version of the stored object; a write with another version is refused. */
  resourceVersion?: string;
  selfLink?: string;
  uid?: string;
}

export const ObjectMetaSchema: Schema<ObjectMeta> = object<ObjectMeta>({
  annotations: map(string),
  creationTimestamp: nullable(TimeSchema),
  deletionGracePeriodSeconds: int64,
  deletionTimestamp: TimeSchema,
  finalizers: array(string, { listType: "set" }),
  generateName: string,
  generation: int64,
  labels: map(string),
  managedFields: array(ManagedFieldsEntrySchema, { listType: "atomic" }),
  name: string,
  namespace: string,
  ownerReferences: array(OwnerReferenceSchema, { listType: "map", listMapKeys: ["uid"] }),
  resourceVersion: string,
  selfLink: string,
  uid: string,
});
