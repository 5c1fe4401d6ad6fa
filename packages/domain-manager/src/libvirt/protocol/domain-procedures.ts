/** The life of a domain: defined, started, changed, stopped, removed. */
export const domainProcedures = {
  domainLookupById: {
    number: 22,
    args: { id: "i32" },
    result: { dom: "domain" },
  },
  domainLookupByName: {
    number: 23,
    args: { name: "string" },
    result: { dom: "domain" },
  },
  domainLookupByUuid: {
    number: 24,
    args: { uuid: "uuid" },
    result: { dom: "domain" },
  },
  domainDefineXml: {
    number: 350,
    args: {
      xml: "string",
      flags: "flags:domainDefine",
    },
    result: { dom: "domain" },
  },
  /** Starts a transient domain, which is gone when it stops. */
  domainCreateXml: {
    number: 10,
    args: {
      xml: "string",
      flags: "flags:domainCreate",
    },
    result: { dom: "domain" },
  },
  domainCreate: {
    number: 196,
    args: {
      dom: "domain",
      flags: "flags:domainCreate",
    },
    result: { dom: "domain" },
  },
  domainDestroy: {
    number: 234,
    args: {
      dom: "domain",
      flags: "flags:domainDestroy",
    },
    result: {},
  },
  /** Asks the guest; the answer comes before the guest has complied. */
  domainShutdown: {
    number: 258,
    args: {
      dom: "domain",
      flags: "flags:domainShutdown",
    },
    result: {},
  },
  domainReboot: {
    number: 27,
    args: {
      dom: "domain",
      flags: "flags:domainShutdown",
    },
    result: {},
  },
  domainReset: {
    number: 245,
    args: {
      dom: "domain",
      flags: "flags:none",
    },
    result: {},
  },
  domainSuspend: {
    number: 34,
    args: { dom: "domain" },
    result: {},
  },
  domainResume: {
    number: 28,
    args: { dom: "domain" },
    result: {},
  },
  domainUndefine: {
    number: 231,
    args: {
      dom: "domain",
      flags: "flags:domainUndefine",
    },
    result: {},
  },
  domainGetXmlDesc: {
    number: 14,
    args: {
      dom: "domain",
      flags: "flags:domainXml",
    },
    result: { xml: "string" },
  },
  domainGetInfo: {
    number: 16,
    args: { dom: "domain" },
    result: {
      state: "enum:domainState",
      maxMemory: "u64", // KiB
      memory: "u64", // KiB
      vcpus: "u16",
      cpuTime: "u64", // ns
    },
  },
  /** `stateReason` gives the name of the reason. */
  domainGetState: {
    number: 212,
    args: {
      dom: "domain",
      flags: "flags:none",
    },
    result: {
      state: "enum:domainState",
      reason: "i32",
    },
  },
  domainIsPersistent: {
    number: 151,
    args: { dom: "domain" },
    result: { persistent: "bool" },
  },
  domainGetMetadata: {
    number: 265,
    args: {
      dom: "domain",
      type: "enum:metadataType",
      uri: "string?",
      flags: "flags:domainImpact",
    },
    result: { metadata: "string" },
  },
  domainSetMetadata: {
    number: 264,
    args: {
      dom: "domain",
      type: "enum:metadataType",
      metadata: "string?", // absent: removes it
      key: "string?",
      uri: "string?",
      flags: "flags:domainImpact",
    },
    result: {},
  },
  domainAttachDevice: {
    number: 160,
    args: {
      dom: "domain",
      xml: "string",
      flags: "flags:domainDevice",
    },
    result: {},
  },
  /** The answer may come before the guest has released the device: wait for `deviceRemoved`. */
  domainDetachDevice: {
    number: 161,
    args: {
      dom: "domain",
      xml: "string",
      flags: "flags:domainDevice",
    },
    result: {},
  },
  domainDetachDeviceAlias: {
    number: 392,
    args: {
      dom: "domain",
      alias: "string",
      flags: "flags:domainDevice",
    },
    result: {},
  },
  domainUpdateDevice: {
    number: 174,
    args: {
      dom: "domain",
      xml: "string",
      flags: "flags:domainDevice",
    },
    result: {},
  },
  domainSetVcpus: {
    number: 199,
    args: {
      dom: "domain",
      count: "u32",
      flags: "flags:domainVcpus",
    },
    result: {},
  },
  domainGetVcpusFlags: {
    number: 200,
    args: {
      dom: "domain",
      flags: "flags:domainVcpus",
    },
    result: { count: "i32" },
  },
  domainGetVcpus: {
    number: 20,
    args: {
      dom: "domain",
      maxInfo: "i32",
      mapLength: "i32", // bytes of CPU map a vCPU; 0 for none
    },
    result: {
      info: "vcpuInfo[16384]",
      cpuMaps: "bytes[8388608]",
    },
  },
  /** The CPU map has a bit for each CPU of the host, the first one in bit 0 of byte 0. */
  domainPinVcpu: {
    number: 225,
    args: {
      dom: "domain",
      vcpu: "u32",
      cpuMap: "bytes[2048]",
      flags: "flags:domainImpact",
    },
    result: {},
  },
  domainPinEmulator: {
    number: 279,
    args: {
      dom: "domain",
      cpuMap: "bytes[2048]",
      flags: "flags:domainImpact",
    },
    result: {},
  },
  domainSetMemory: {
    number: 204,
    args: {
      dom: "domain",
      memory: "u64", // KiB
      flags: "flags:domainMemory",
    },
    result: {},
  },
  domainGetMaxMemory: {
    number: 17,
    args: { dom: "domain" },
    result: { memory: "u64" }, // KiB
  },
  domainMemoryStats: {
    number: 159,
    args: {
      dom: "domain",
      maxStats: "u32",
      flags: "flags:none",
    },
    result: { stats: "memoryStat[1024]" },
  },
  domainSetMemoryStatsPeriod: {
    number: 308,
    args: {
      dom: "domain",
      period: "i32", // s
      flags: "flags:domainMemory",
    },
    result: {},
  },
  domainInterfaceStats: {
    number: 65,
    args: {
      dom: "domain",
      device: "string",
    },
    result: {
      rxBytes: "i64",
      rxPackets: "i64",
      rxErrors: "i64",
      rxDropped: "i64",
      txBytes: "i64",
      txPackets: "i64",
      txErrors: "i64",
      txDropped: "i64",
    },
  },
  domainSendKey: {
    number: 226,
    args: {
      dom: "domain",
      codeset: "enum:keycodeSet",
      holdTime: "u32", // ms
      keycodes: "u32[16]",
      flags: "flags:none",
    },
    result: {},
  },
  /** Answers with the type of the picture; the picture itself comes as a stream. */
  domainScreenshot: {
    number: 211,
    args: {
      dom: "domain",
      screen: "u32",
      flags: "flags:none",
    },
    result: { mime: "string?" },
  },
  domainOpenConsole: {
    number: 201,
    args: {
      dom: "domain",
      device: "string?",
      flags: "flags:console",
    },
    result: {},
  },
  /** Writes a file on the daemon's host. */
  domainCoreDump: {
    number: 334,
    slow: true,
    args: {
      dom: "domain",
      to: "string",
      format: "enum:dumpFormat",
      flags: "flags:coreDump",
    },
    result: {},
  },
  /** For debugging; libvirt marks the domain as tainted. */
  qemuMonitorCommand: {
    number: 1,
    program: "qemu",
    args: {
      dom: "domain",
      command: "string",
      flags: "flags:monitorCommand",
    },
    result: { result: "string" },
  },
} as const;
