export { type Binding, type BindingKind, bindings } from "./binding.ts";
export { type BindingFacts, bindingFacts, podIps } from "./binding-facts.ts";
export type { DomainNic } from "./domain-nic.ts";
export type { BridgeLease, GuestDhcp } from "./guest-dhcp.ts";
export { type GuestPart, type GuestServers, guestPart, type WiredPod } from "./guest-part.ts";
export { masqueradeGuest } from "./masquerade-guest.ts";
export type { NatChain, NatMatch, NatRule, NatTable, NatVerdict } from "./nat-rules.ts";
export { networksToWire, type WiringFlow } from "./networks-to-wire.ts";
export { type LinkRef, type Operation, operationText, type Step } from "./operation.ts";
export {
  type BindingPlan,
  type NetworkPlan,
  type PlanOptions,
  planBinding,
  planWiring,
  type WiringPlan,
} from "./plan-binding.ts";
export type { PodAddress, PodNeighbour, PodNic, PodRoute } from "./pod-nic.ts";
export { type LinkModel, linkModel, type PredictedLink } from "./predict-links.ts";
export type { WantedLink } from "./wanted-links.ts";
export type { SettingName, WantedState } from "./wanted-state.ts";
