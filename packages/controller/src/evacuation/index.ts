export { type NodeEvacuationView, planNodeEvacuation } from "./plan-node-evacuation.ts";
