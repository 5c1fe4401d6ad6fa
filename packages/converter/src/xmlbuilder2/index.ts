export { fromXmlBuilder, toXmlBuilder } from "./domain-document.ts";
