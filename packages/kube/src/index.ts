export type { Connection, Credentials, TlsSettings } from "./client/connection.ts";
export { HttpClient, type HttpClientOptions } from "./client/http-client.ts";
export type {
  DeleteOptions,
  GetOptions,
  JsonPatchOperation,
  KubeClient,
  ListOptions,
  ObjectList,
  Patch,
  RawRequest,
  RawResponse,
  RequestOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client/kube-client.ts";
export {
  isAlreadyExists,
  isConflict,
  isExpired,
  isKubeError,
  isNotFound,
  isUncertain,
  KubeError,
  type KubeErrorCode,
  type KubeErrorOptions,
  type StatusCause,
} from "./client/kube-error.ts";
export type { KubeObject, ObjectMeta, OwnerReference } from "./client/kube-object.ts";
export { apiVersionOf, defineResource, type ObjectName, type Resource } from "./client/resource.ts";
