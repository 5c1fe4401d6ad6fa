export { ConverterError, type ConverterErrorCode, isConverterError } from "./converter-error.ts";
export type { Domain } from "./model/domain.ts";
export { toXml } from "./xml/to-xml.ts";
