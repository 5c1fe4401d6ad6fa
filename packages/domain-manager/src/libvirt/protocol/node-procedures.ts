/** The host that libvirtd runs on: its processors, memory and devices, and the secrets it keeps. */
export const nodeProcedures = {
  nodeGetInfo: {
    number: 6,
    args: {},
    result: {
      model: "chars[32]",
      memory: "u64", // KiB
      cpus: "i32",
      mhz: "i32",
      nodes: "i32",
      sockets: "i32",
      cores: "i32",
      threads: "i32",
    },
  },
  nodeGetFreeMemory: { number: 102, args: {}, result: { bytes: "u64" } },
  connectListAllNodeDevices: {
    number: 285,
    args: {
      needResults: "bool",
      flags: "flags:nodeDeviceList",
    },
    result: {
      devices: "nodeDevice[65536]",
      count: "u32",
    },
  },
  nodeDeviceLookupByName: {
    number: 113,
    args: { name: "string" },
    result: { device: "nodeDevice" },
  },
  nodeDeviceGetXmlDesc: {
    number: 114,
    args: {
      name: "string",
      flags: "flags:none",
    },
    result: { xml: "string" },
  },
  connectListAllSecrets: {
    number: 287,
    args: {
      needResults: "bool",
      flags: "flags:secretList",
    },
    result: {
      secrets: "secret[16384]",
      count: "u32",
    },
  },
  secretLookupByUuid: {
    number: 141,
    args: { uuid: "uuid" },
    result: { secret: "secret" },
  },
  secretLookupByUsage: {
    number: 147,
    args: {
      usageType: "enum:secretUsage",
      usageId: "string",
    },
    result: { secret: "secret" },
  },
  secretDefineXml: {
    number: 142,
    args: {
      xml: "string",
      flags: "flags:secretDefine",
    },
    result: { secret: "secret" },
  },
  secretGetXmlDesc: {
    number: 143,
    args: {
      secret: "secret",
      flags: "flags:none",
    },
    result: { xml: "string" },
  },
  secretSetValue: {
    number: 144,
    args: {
      secret: "secret",
      value: "bytes[65536]",
      flags: "flags:none",
    },
    result: {},
  },
  /** Refused by the daemon for a secret that is private. */
  secretGetValue: {
    number: 145,
    args: {
      secret: "secret",
      flags: "flags:none",
    },
    result: { value: "bytes[65536]" },
  },
  secretUndefine: {
    number: 146,
    args: { secret: "secret" },
    result: {},
  },
} as const;
