export { type Binding, type BindingKind, bindings } from "./binding.ts";
export { type BindingFacts, bindingFacts, podIps } from "./binding-facts.ts";
export { bindingNat } from "./binding-nat.ts";
export { type DomainNic, domainAttachments, domainNic, wiredLink } from "./domain-nic.ts";
export type { BridgeLease, GuestDhcp } from "./guest-dhcp.ts";
export { handedNetworks, type WiringFlow } from "./handed-networks.ts";
export type { NatChain, NatMatch, NatRule, NatTable, NatVerdict } from "./nat-rules.ts";
export { type LinkRef, type Operation, operationText, type Step } from "./operation.ts";
export {
  type BindingPlan,
  type GuestServers,
  guestServers,
  hasWork,
  type NetworkPlan,
  type PlanOptions,
  planBinding,
  wiringSteps,
} from "./plan-binding.ts";
export type { PodAddress, PodNeighbour, PodNic, PodRoute } from "./pod-nic.ts";
export { type LinkModel, linkModel, type PredictedLink } from "./predict-links.ts";
export type { WantedLink } from "./wanted-links.ts";
export { type SettingName, type WantedState, wantedState } from "./wanted-state.ts";
