export { formatIp, isIpv4, parseIp } from "./ip-address.ts";
export { formatMac, parseMac } from "./mac-address.ts";
