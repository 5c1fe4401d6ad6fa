export type { Clock } from "@virtkit/api/clock";
export type { Dialer, DialOptions } from "./dial.ts";
export type { DomainRef } from "./event-hub.ts";
export type { EventItem, EventStream } from "./event-stream.ts";
export {
  connectLibvirt,
  type Libvirt,
  type LibvirtOptions,
  type SubscribeOptions,
} from "./libvirt.ts";
export {
  isLibvirtError,
  LibvirtError,
  type LibvirtErrorCode,
  type LibvirtErrorOptions,
  type RemoteError,
} from "./libvirt-error.ts";
export {
  type LibvirtEndpoint,
  type LibvirtTarget,
  parseLibvirtUri,
  type UriEnvironment,
} from "./libvirt-uri.ts";
export { type EnumName, lifecycleDetail, stateReason } from "./protocol/enums.ts";
export { type DomainEvent, type EventType, eventTypes } from "./protocol/events.ts";
export { type Flag, statsGroups } from "./protocol/flags.ts";
export type { Arguments, ProcedureName, Result } from "./protocol/procedures.ts";
export type {
  ParameterArguments,
  Parameters,
  ParameterValue,
} from "./protocol/typed-parameters.ts";
export type { CallOptions } from "./rpc/pending-call.ts";
export type { RpcStream as LibvirtStream } from "./rpc/rpc-stream.ts";
