export { type ChildLimit, type ChildPlan, type ChildSpec, planChild } from "./plan-child.ts";
export { type ChildOptions, startChild } from "./start-child.ts";
