/**
 * Questions to the guest agent. A guest can lie, and an agent can hang: give these calls a timeout.
 */
export const guestProcedures = {
  domainInterfaceAddresses: {
    number: 353,
    args: {
      dom: "domain",
      source: "enum:addressSource",
      flags: "flags:none",
    },
    result: { interfaces: "interface[2048]" },
  },
  domainGetGuestInfo: {
    number: 418,
    args: {
      dom: "domain",
      types: "flags:guestInfo", // none: all that the agent knows
      flags: "flags:none",
    },
    result: { params: "params[2048]" },
  },
  domainGetFileSystems: {
    number: 349,
    args: {
      dom: "domain",
      flags: "flags:none",
    },
    result: {
      fileSystems: "fileSystem[256]",
      count: "u32",
    },
  },
  domainGetGuestVcpus: {
    number: 371,
    args: {
      dom: "domain",
      flags: "flags:none",
    },
    result: { params: "params[64]" },
  },
  domainGetHostname: {
    number: 277,
    args: {
      dom: "domain",
      flags: "flags:guestHostname",
    },
    result: { hostname: "string" },
  },
  domainFreeze: {
    number: 335,
    args: {
      dom: "domain",
      mountpoints: "string[256]", // empty: all
      flags: "flags:none",
    },
    result: { fileSystems: "i32" },
  },
  domainThaw: {
    number: 336,
    args: {
      dom: "domain",
      mountpoints: "string[256]", // empty: all
      flags: "flags:none",
    },
    result: { fileSystems: "i32" },
  },
  domainGetTime: {
    number: 337,
    args: {
      dom: "domain",
      flags: "flags:none",
    },
    result: {
      seconds: "i64",
      nanoseconds: "u32",
    },
  },
  domainSetTime: {
    number: 338,
    args: {
      dom: "domain",
      seconds: "i64",
      nanoseconds: "u32",
      flags: "flags:setTime",
    },
    result: {},
  },
  /** A command of the agent's own protocol, as JSON, answered as JSON. */
  qemuAgentCommand: {
    number: 3,
    program: "qemu",
    args: {
      dom: "domain",
      command: "string",
      timeout: "i32", // s; -2 forever, -1 libvirt's default, 0 none at all
      flags: "flags:none",
    },
    result: { result: "string?" },
  },
} as const;
