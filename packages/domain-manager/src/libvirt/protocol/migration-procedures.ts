/**
 * Live migration. Peer to peer, the source's daemon does all of it in one `domainMigratePerform`; managed by
 * the client, the order is begin (source), prepare (target), perform (source), finish (target), confirm
 * (source), each handing its cookie to the next.
 */
export const migrationProcedures = {
  domainMigrateBegin: {
    number: 302,
    args: {
      dom: "domain",
      params: "params:migration[64]",
      flags: "flags:migrate",
    },
    result: {
      cookie: "bytes[4194304]",
      xml: "string",
    },
  },
  domainMigratePrepare: {
    number: 303,
    args: {
      params: "params:migration[64]",
      cookie: "bytes[4194304]",
      flags: "flags:migrate",
    },
    result: {
      cookie: "bytes[4194304]",
      uri: "string?",
    },
  },
  /** Answers when the guest has moved; use a separate connection. */
  domainMigratePerform: {
    number: 305,
    slow: true,
    args: {
      dom: "domain",
      destination: "string?", // the target's URI as the source's daemon reaches it; peer to peer only
      params: "params:migration[64]",
      cookie: "bytes[4194304]",
      flags: "flags:migrate",
    },
    result: { cookie: "bytes[4194304]" },
  },
  domainMigrateFinish: {
    number: 306,
    slow: true,
    args: {
      params: "params:migration[64]",
      cookie: "bytes[4194304]",
      flags: "flags:migrate",
      cancelled: "bool",
    },
    result: {
      dom: "domain",
      cookie: "bytes[4194304]",
    },
  },
  domainMigrateConfirm: {
    number: 307,
    args: {
      dom: "domain",
      params: "params:migration[64]",
      cookie: "bytes[4194304]",
      flags: "flags:migrate",
      cancelled: "bool",
    },
    result: {},
  },
  domainMigrateStartPostCopy: {
    number: 364,
    args: {
      dom: "domain",
      flags: "flags:none",
    },
    result: {},
  },
  domainMigrateSetMaxDowntime: {
    number: 166,
    args: {
      dom: "domain",
      downtime: "u64", // ms
      flags: "flags:none",
    },
    result: {},
  },
  domainMigrateGetMaxDowntime: {
    number: 387,
    args: {
      dom: "domain",
      flags: "flags:none",
    },
    result: { downtime: "u64" }, // ms
  },
  domainMigrateSetMaxSpeed: {
    number: 207,
    args: {
      dom: "domain",
      bandwidth: "u64", // MiB/s
      flags: "flags:migrateSpeed",
    },
    result: {},
  },
  domainMigrateGetMaxSpeed: {
    number: 242,
    args: {
      dom: "domain",
      flags: "flags:migrateSpeed",
    },
    result: { bandwidth: "u64" }, // MiB/s
  },
  domainGetJobInfo: {
    number: 163,
    args: { dom: "domain" },
    result: {
      type: "enum:jobType",
      timeElapsed: "u64", // ms
      timeRemaining: "u64", // ms
      dataTotal: "u64", // bytes, as all that follow
      dataProcessed: "u64",
      dataRemaining: "u64",
      memTotal: "u64",
      memProcessed: "u64",
      memRemaining: "u64",
      fileTotal: "u64",
      fileProcessed: "u64",
      fileRemaining: "u64",
    },
  },
  domainGetJobStats: {
    number: 298,
    args: {
      dom: "domain",
      flags: "flags:jobStats",
    },
    result: {
      type: "enum:jobType",
      params: "params[64]",
    },
  },
  /** Measures for some seconds how fast the guest writes; `connectGetAllDomainStats` has the answer. Since 7.2. */
  domainStartDirtyRateCalc: {
    number: 427,
    args: {
      dom: "domain",
      seconds: "i32",
      flags: "flags:none",
    },
    result: {},
  },
  domainAbortJob: {
    number: 164,
    args: { dom: "domain" },
    result: {},
  },
  /** Since libvirt 8.5. */
  domainAbortJobFlags: {
    number: 442,
    args: {
      dom: "domain",
      flags: "flags:abortJob",
    },
    result: {},
  },
} as const;
