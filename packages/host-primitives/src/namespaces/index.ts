export { Namespace, type NamespaceKind, openNamespace } from "./namespace.ts";
export {
  createNetworkNamespace,
  deleteNetworkNamespace,
  listNetworkNamespaces,
  type NetworkNamespaceOptions,
} from "./network-namespaces.ts";
export type {
  Borrowed,
  OperationArguments,
  OperationName,
  OperationResult,
  OperationValue,
} from "./operations.ts";
export { createRootNamespace, openNamespaceRoot } from "./root-namespace.ts";
export { runIn, stopNamespaceHelper } from "./run-in.ts";
