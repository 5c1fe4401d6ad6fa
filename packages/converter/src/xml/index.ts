export { bytesIn } from "../diff/memory-bytes.ts";
export { readDocument, type XmlNode } from "./read-document.ts";
export { writeDocument } from "./write-document.ts";
