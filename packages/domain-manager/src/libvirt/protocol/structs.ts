/**
 * The structures that more than one procedure uses, one field per line, in wire order. See `notation.ts` for
 * what the words mean.
 */
export const structs = {
  /** A domain; `id` is -1 while it is not running. */
  domain: {
    name: "string",
    uuid: "uuid",
    id: "i32",
  },
  network: {
    name: "string",
    uuid: "uuid",
  },
  nodeDevice: {
    name: "string",
  },
  secret: {
    uuid: "uuid",
    usageType: "enum:secretUsage",
    usageId: "string",
  },
  vcpuInfo: {
    number: "u32",
    state: "enum:vcpuState",
    cpuTime: "u64", // ns
    cpu: "i32", // -1: not pinned or not running
  },
  memoryStat: {
    tag: "enum:memoryStat",
    value: "u64", // KiB, but for the faults and the time
  },
  ipAddress: {
    type: "enum:addressType",
    address: "string",
    prefix: "u32",
  },
  interface: {
    name: "string",
    hardwareAddress: "string?",
    addresses: "ipAddress[2048]",
  },
  fileSystem: {
    mountpoint: "string",
    name: "string",
    type: "string",
    devices: "string[256]",
  },
  statsRecord: {
    dom: "domain",
    params: "params[262144]",
  },
  graphicsAddress: {
    family: "enum:graphicsFamily",
    node: "string",
    service: "string",
  },
  graphicsIdentity: {
    type: "string",
    name: "string",
  },
  error: {
    code: "i32",
    domain: "i32",
    message: "string?",
    level: "i32",
    dom: "domain?",
    str1: "string?",
    str2: "string?",
    str3: "string?",
    int1: "i32",
    int2: "i32",
    net: "network?",
  },
} as const;
