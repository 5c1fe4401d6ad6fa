export type { ProxyLimits } from "./proxy-limits.ts";
export type { ChannelKind, ProxyOptions } from "./proxy-options.ts";
export {
  type SourceChannel,
  type SourceProxy,
  type SourceProxyOptions,
  startSourceProxy,
} from "./source-proxy.ts";
export {
  startTargetProxy,
  type TargetChannel,
  type TargetProxy,
  type TargetProxyOptions,
} from "./target-proxy.ts";
