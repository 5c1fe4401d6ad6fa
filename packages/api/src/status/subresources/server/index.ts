export {
  type AccessQuestion,
  type AccessRequest,
  type AccessReviewSpec,
  accessQuestion,
  defaultIdentityHeaders,
  type IdentityHeaders,
} from "./access-review.ts";
export type { ObjectGraphNode } from "./object-graph.ts";
export { planSubresource } from "./plan-subresource.ts";
export { type OptionType, readOptions } from "./read-options.ts";
export { nodeRefusal, type WriteFailure, writeRefusal } from "./refusals.ts";
export {
  type RoutedRequest,
  routeSubresource,
  type SubresourceParent,
  type SubresourceRoute,
  type SubresourceVersion,
  subresourceRoutes,
  subresourceVersions,
  type UnroutedSubresource,
} from "./route.ts";
export type { SubresourceLookup } from "./subresource-lookup.ts";
export type {
  PlannedAnswer,
  PlannedDial,
  PlannedNodeCall,
  PlannedWrites,
  SubresourcePlan,
} from "./subresource-plan.ts";
export type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";
export { vmVerbs } from "./vm-verbs.ts";
