export { type Dhcp4Config, dhcp4Options } from "../dhcp4/dhcp4-options.ts";
export {
  type Dhcp4Reply,
  type Dhcp4Responder,
  dhcp4Responder,
  type Endpoint,
} from "../dhcp4/dhcp4-reply.ts";
export { type Dhcp6Config, type Dhcp6Responder, dhcp6Responder } from "../dhcp6/dhcp6-reply.ts";
export { isNetworkSetupError, NetworkSetupError } from "../network-setup-error.ts";
export { encodeClasslessRoutes, type Route } from "./classless-routes.ts";
export { type MasqueradeDhcpConfig, masqueradeDhcpConfig } from "./masquerade-dhcp-config.ts";
export {
  domainWithSubdomain,
  longestServiceDomain,
  parseResolvConf,
  type ResolvConf,
} from "./resolv-conf.ts";
export { encodeSearchDomains, longestDomain } from "./search-domains.ts";
