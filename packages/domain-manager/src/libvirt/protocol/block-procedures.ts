/** The disks of a domain. A disk is named by its target, such as `vda`, or by its source's path. */
export const blockProcedures = {
  domainGetBlockInfo: {
    number: 194,
    args: {
      dom: "domain",
      path: "string",
      flags: "flags:none",
    },
    result: {
      allocation: "u64", // bytes, like all that follow
      capacity: "u64",
      physical: "u64",
    },
  },
  domainBlockResize: {
    number: 251,
    args: {
      dom: "domain",
      disk: "string",
      size: "u64", // KiB, or bytes with the flag
      flags: "flags:blockResize",
    },
    result: {},
  },
  /** Starts a mirror; it ends with `domainBlockJobAbort`, which may pivot to the copy. */
  domainBlockCopy: {
    number: 345,
    args: {
      dom: "domain",
      path: "string",
      destination: "string", // XML of a disk
      params: "params:blockCopy[16]",
      flags: "flags:blockCopy",
    },
    result: {},
  },
  domainBlockJobAbort: {
    number: 237,
    args: {
      dom: "domain",
      path: "string",
      flags: "flags:blockJobAbort",
    },
    result: {},
  },
  domainGetBlockJobInfo: {
    number: 238,
    args: {
      dom: "domain",
      path: "string",
      flags: "flags:blockJobSpeed",
    },
    result: {
      found: "bool", // if not, the rest is 0
      type: "enum:blockJobType",
      bandwidth: "u64",
      current: "u64",
      end: "u64",
    },
  },
  domainBlockJobSetSpeed: {
    number: 239,
    args: {
      dom: "domain",
      path: "string",
      bandwidth: "u64", // MiB/s, or bytes/s with the flag
      flags: "flags:blockJobSpeed",
    },
    result: {},
  },
  domainBlockStats: {
    number: 64,
    args: {
      dom: "domain",
      path: "string",
    },
    result: {
      readRequests: "i64",
      readBytes: "i64",
      writeRequests: "i64",
      writeBytes: "i64",
      errors: "i64", // -1: not known
    },
  },
  domainBlockStatsFlags: {
    number: 243,
    args: {
      dom: "domain",
      path: "string",
      maxParams: "i32", // 0 answers only how many there are
      flags: "flags:typedParameters",
    },
    result: {
      params: "params[16]",
      count: "i32",
    },
  },
} as const;
