export { explain } from "./explain.ts";
export { explainFor } from "./explain-for.ts";
export {
  type ExplainedNode,
  type Explanation,
  nodesAt,
  nodesFrom,
  type Source,
} from "./explanation.ts";
export type { Step } from "./trace-steps.ts";
export { type XmlLine, type XmlToken, xmlLines } from "./xml-lines.ts";
