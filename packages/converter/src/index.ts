export type { ConverterContext, HostFacts } from "./context.ts";
export { convert } from "./convert.ts";
export { ConverterError, type ConverterErrorCode, isConverterError } from "./converter-error.ts";
export { domainFor, prepareVmi } from "./domain-for.ts";
export type { Domain } from "./model/domain.ts";
export type { Environment } from "./resolve/environment.ts";
export { hostFacts, resolveContext } from "./resolve/resolve-context.ts";
export { toXml } from "./xml/to-xml.ts";
