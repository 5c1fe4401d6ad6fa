import { type DataVolumeSpec, DataVolumeSpecSchema } from "../cdi/data-volume.ts";
import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import { type Empty, object, required, type Schema, string } from "../schema.ts";

/** Ignored; accepted so that whole DataVolumes can be pasted in. */
export type DataVolumeTemplateDummyStatus = Empty;

export const DataVolumeTemplateDummyStatusSchema: Schema<DataVolumeTemplateDummyStatus> =
  object<DataVolumeTemplateDummyStatus>({}, { nullable: true });

/** A DataVolume that is created with the VM and deleted with it. */
export interface DataVolumeTemplateSpec {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: DataVolumeSpec;
  status?: DataVolumeTemplateDummyStatus;
}

export const DataVolumeTemplateSpecSchema: Schema<DataVolumeTemplateSpec> =
  object<DataVolumeTemplateSpec>(
    {
      apiVersion: string,
      kind: string,
      metadata: ObjectMetaSchema,
      spec: required(DataVolumeSpecSchema),
      status: DataVolumeTemplateDummyStatusSchema,
    },
    { nullable: true },
  );
