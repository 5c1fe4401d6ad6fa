export { sha1 } from "./sha1.ts";
export { sha256 } from "./sha256.ts";
export { utf8 } from "./utf8.ts";
