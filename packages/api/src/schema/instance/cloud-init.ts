import {
  type LocalObjectReference,
  LocalObjectReferenceSchema,
} from "../core/local-object-reference.ts";
import { object, type Schema, string } from "../schema.ts";

/** Cloud-init data as a NoCloud disk. */
export interface CloudInitNoCloudSource {
  networkData?: string;
  networkDataBase64?: string;
  /** Secret with the network data. */
  networkDataSecretRef?: LocalObjectReference;
  /** Secret with the user data. */
  secretRef?: LocalObjectReference;
  /** As plain text; at most 2048 bytes. */
  userData?: string;
  /** The same in base64. */
  userDataBase64?: string;
}

export const CloudInitNoCloudSourceSchema: Schema<CloudInitNoCloudSource> =
  object<CloudInitNoCloudSource>({
    networkData: string,
    networkDataBase64: string,
    networkDataSecretRef: LocalObjectReferenceSchema,
    secretRef: LocalObjectReferenceSchema,
    userData: string,
    userDataBase64: string,
  });

/** Cloud-init data as an OpenStack config drive. */
export interface CloudInitConfigDriveSource {
  networkData?: string;
  networkDataBase64?: string;
  /** Secret with the network data. */
  networkDataSecretRef?: LocalObjectReference;
  /** Secret with the user data. */
  secretRef?: LocalObjectReference;
  /** As plain text; at most 2048 bytes. */
  userData?: string;
  /** The same in base64. */
  userDataBase64?: string;
}

export const CloudInitConfigDriveSourceSchema: Schema<CloudInitConfigDriveSource> =
  object<CloudInitConfigDriveSource>({
    networkData: string,
    networkDataBase64: string,
    networkDataSecretRef: LocalObjectReferenceSchema,
    secretRef: LocalObjectReferenceSchema,
    userData: string,
    userDataBase64: string,
  });
