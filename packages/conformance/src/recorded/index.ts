export { fullObject, publishedDefinitions } from "./full-object.ts";
export {
  type RecordedCase,
  type RecordedConversion,
  recordedCases,
  recordedConversions,
  recordedFacts,
} from "./recorded-cases.ts";
export { environmentOf, type RecordedEnvironment } from "./recorded-environment.ts";
export { diffXmlTrees, readXmlTree, type XmlTree } from "./xml-tree.ts";
