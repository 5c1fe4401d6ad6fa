import { array, boolean, type Empty, object, required, type Schema, string } from "../schema.ts";

/** An empty image. */
export type DataVolumeBlankImage = Empty;

export const DataVolumeBlankImageSchema: Schema<DataVolumeBlankImage> =
  object<DataVolumeBlankImage>({});

/** An object in Google Cloud Storage. */
export interface DataVolumeSourceGCS {
  secretRef?: string;
  url: string;
}

export const DataVolumeSourceGCSSchema: Schema<DataVolumeSourceGCS> = object<DataVolumeSourceGCS>({
  secretRef: string,
  url: required(string),
});

/** A file on an HTTP server. */
export interface DataVolumeSourceHTTP {
  /** ConfigMap with trusted certificates for this server. */
  certConfigMap?: string;
  extraHeaders?: string[];
  /** Secrets whose values are sent as additional headers. */
  secretExtraHeaders?: string[];
  /** Secret with `accessKeyId` and `secretKey`, used as user and password. */
  secretRef?: string;
  url: string;
}

export const DataVolumeSourceHTTPSchema: Schema<DataVolumeSourceHTTP> =
  object<DataVolumeSourceHTTP>({
    certConfigMap: string,
    extraHeaders: array(string),
    secretExtraHeaders: array(string),
    secretRef: string,
    url: required(string),
  });

/** A disk of an oVirt engine. */
export interface DataVolumeSourceImageIO {
  certConfigMap?: string;
  /** The disk's id in the engine. */
  diskId: string;
  insecureSkipVerify?: boolean;
  secretRef?: string;
  url: string;
}

export const DataVolumeSourceImageIOSchema: Schema<DataVolumeSourceImageIO> =
  object<DataVolumeSourceImageIO>({
    certConfigMap: string,
    diskId: required(string),
    insecureSkipVerify: boolean,
    secretRef: string,
    url: required(string),
  });

/** A clone of another claim. */
export interface DataVolumeSourcePVC {
  name: string;
  namespace: string;
}

export const DataVolumeSourcePVCSchema: Schema<DataVolumeSourcePVC> = object<DataVolumeSourcePVC>({
  name: required(string),
  namespace: required(string),
});

/** Which variant of a multi-platform image to use. */
export interface PlatformOptions {
  architecture?: string;
}

export const PlatformOptionsSchema: Schema<PlatformOptions> = object<PlatformOptions>({
  architecture: string,
});

/** An image in a container registry. */
export interface DataVolumeSourceRegistry {
  certConfigMap?: string;
  imageStream?: string;
  platform?: PlatformOptions;
  /** `pod` (the importer pulls) or `node` (the node's runtime pulls). */
  pullMethod?: string;
  secretRef?: string;
  /** `docker://` and the image, or `oci-archive://` and a file. */
  url?: string;
}

export const DataVolumeSourceRegistrySchema: Schema<DataVolumeSourceRegistry> =
  object<DataVolumeSourceRegistry>({
    certConfigMap: string,
    imageStream: string,
    platform: PlatformOptionsSchema,
    pullMethod: string,
    secretRef: string,
    url: string,
  });

/** An object in S3 or a compatible store. */
export interface DataVolumeSourceS3 {
  certConfigMap?: string;
  secretRef?: string;
  url: string;
}

export const DataVolumeSourceS3Schema: Schema<DataVolumeSourceS3> = object<DataVolumeSourceS3>({
  certConfigMap: string,
  secretRef: string,
  url: required(string),
});

/** A volume snapshot. */
export interface DataVolumeSourceSnapshot {
  name: string;
  namespace: string;
}

export const DataVolumeSourceSnapshotSchema: Schema<DataVolumeSourceSnapshot> =
  object<DataVolumeSourceSnapshot>({
    name: required(string),
    namespace: required(string),
  });

/** Content that a client uploads. */
export type DataVolumeSourceUpload = Empty;

export const DataVolumeSourceUploadSchema: Schema<DataVolumeSourceUpload> =
  object<DataVolumeSourceUpload>({});

/** A disk of a VMware virtual machine. */
export interface DataVolumeSourceVDDK {
  /** The disk's path on the datastore. */
  backingFile?: string;
  extraArgs?: string;
  /** Image that contains VMware's library. */
  initImageURL?: string;
  secretRef?: string;
  /** Fingerprint of the server's certificate. */
  thumbprint?: string;
  url?: string;
  uuid?: string;
}

export const DataVolumeSourceVDDKSchema: Schema<DataVolumeSourceVDDK> =
  object<DataVolumeSourceVDDK>({
    backingFile: string,
    extraArgs: string,
    initImageURL: string,
    secretRef: string,
    thumbprint: string,
    url: string,
    uuid: string,
  });

/** Where the content of a DataVolume comes from; exactly one is set. */
export interface CdiDataVolumeSource {
  blank?: DataVolumeBlankImage;
  gcs?: DataVolumeSourceGCS;
  http?: DataVolumeSourceHTTP;
  imageio?: DataVolumeSourceImageIO;
  pvc?: DataVolumeSourcePVC;
  registry?: DataVolumeSourceRegistry;
  s3?: DataVolumeSourceS3;
  snapshot?: DataVolumeSourceSnapshot;
  upload?: DataVolumeSourceUpload;
  vddk?: DataVolumeSourceVDDK;
}

export const CdiDataVolumeSourceSchema: Schema<CdiDataVolumeSource> = object<CdiDataVolumeSource>({
  blank: DataVolumeBlankImageSchema,
  gcs: DataVolumeSourceGCSSchema,
  http: DataVolumeSourceHTTPSchema,
  imageio: DataVolumeSourceImageIOSchema,
  pvc: DataVolumeSourcePVCSchema,
  registry: DataVolumeSourceRegistrySchema,
  s3: DataVolumeSourceS3Schema,
  snapshot: DataVolumeSourceSnapshotSchema,
  upload: DataVolumeSourceUploadSchema,
  vddk: DataVolumeSourceVDDKSchema,
});
