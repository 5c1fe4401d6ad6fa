/** Questions to the daemon itself and about its host. Numbers and order are the protocol's. */
export const connectProcedures = {
  authList: {
    number: 66,
    args: {},
    result: { types: "enum:authType[20]" },
  },
  authPolkit: {
    number: 70,
    args: {},
    result: { complete: "i32" },
  },
  connectOpen: {
    number: 1,
    args: {
      name: "string?",
      flags: "flags:connectOpen",
    },
    result: {},
  },
  connectClose: { number: 2, args: {}, result: {} },
  connectSupportsFeature: {
    number: 60,
    args: { feature: "i32" },
    result: { supported: "bool" },
  },
  connectGetType: { number: 3, args: {}, result: { type: "string" } },
  /** Version of the hypervisor, as major * 1,000,000 + minor * 1,000 + release. */
  connectGetVersion: { number: 4, args: {}, result: { version: "u64" } },
  /** Version of libvirtd, in the same form. */
  connectGetLibVersion: { number: 157, args: {}, result: { version: "u64" } },
  connectGetHostname: { number: 59, args: {}, result: { hostname: "string" } },
  connectGetUri: { number: 110, args: {}, result: { uri: "string" } },
  connectGetMaxVcpus: {
    number: 5,
    args: { type: "string?" },
    result: { maxVcpus: "i32" },
  },
  connectGetCapabilities: { number: 7, args: {}, result: { capabilities: "string" } },
  connectGetDomainCapabilities: {
    number: 342,
    args: {
      emulator: "string?",
      arch: "string?",
      machine: "string?",
      virtType: "string?",
      flags: "flags:domainCapabilities",
    },
    result: { capabilities: "string" },
  },
  /** The names of the CPU models that libvirt knows for an architecture. */
  connectGetCpuModelNames: {
    number: 312,
    args: {
      arch: "string",
      needResults: "bool",
      flags: "flags:none",
    },
    result: {
      models: "string[8192]",
      count: "i32",
    },
  },
  connectCompareCpu: {
    number: 158,
    args: {
      xml: "string",
      flags: "flags:compareCpu",
    },
    result: { result: "enum:cpuComparison" },
  },
  connectBaselineCpu: {
    number: 162,
    args: {
      cpus: "string[256]",
      flags: "flags:baselineCpu",
    },
    result: { cpu: "string" },
  },
  connectCompareHypervisorCpu: {
    number: 393,
    args: {
      emulator: "string?",
      arch: "string?",
      machine: "string?",
      virtType: "string?",
      cpu: "string",
      flags: "flags:compareCpu",
    },
    result: { result: "enum:cpuComparison" },
  },
  connectBaselineHypervisorCpu: {
    number: 394,
    args: {
      emulator: "string?",
      arch: "string?",
      machine: "string?",
      virtType: "string?",
      cpus: "string[256]",
      flags: "flags:baselineCpu",
    },
    result: { cpu: "string" },
  },
  connectListAllDomains: {
    number: 273,
    args: {
      needResults: "bool",
      flags: "flags:domainList",
    },
    result: {
      domains: "domain[16384]",
      count: "u32",
    },
  },
  /** Statistics of the given domains, or of all if none is given. */
  connectGetAllDomainStats: {
    number: 344,
    args: {
      domains: "domain[16384]",
      stats: "flags:statsGroups",
      flags: "flags:statsList",
    },
    result: { records: "statsRecord[16384]" },
  },
  eventRegister: {
    number: 316,
    args: {
      event: "i32",
      dom: "domain?",
    },
    result: { callback: "i32" },
  },
  eventDeregister: {
    number: 317,
    args: { callback: "i32" },
    result: {},
  },
} as const;
