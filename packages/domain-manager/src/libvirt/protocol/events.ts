import type { ReceivedFields } from "./notation.ts";

/**
 * The events of domains: the number to register with, the number of the message, and the fields of
 * the message after the registration number.
 */
export const events = {
  /** `lifecycleDetail` gives the name of the detail. */
  lifecycle: {
    id: 0,
    message: 318,
    fields: {
      dom: "domain",
      event: "enum:lifecycleEvent",
      detail: "i32",
    },
  },
  reboot: {
    id: 1,
    message: 319,
    fields: { dom: "domain" },
  },
  rtcChange: {
    id: 2,
    message: 320,
    fields: {
      dom: "domain",
      offset: "i64", // s from UTC
    },
  },
  watchdog: {
    id: 3,
    message: 321,
    fields: {
      dom: "domain",
      action: "enum:watchdogAction",
    },
  },
  ioError: {
    id: 6,
    message: 324,
    fields: {
      dom: "domain",
      source: "string",
      alias: "string",
      action: "enum:ioErrorAction",
      reason: "string", // "enospc", or empty
    },
  },
  graphics: {
    id: 5,
    message: 323,
    fields: {
      dom: "domain",
      phase: "enum:graphicsPhase",
      local: "graphicsAddress",
      remote: "graphicsAddress",
      authScheme: "string",
      subject: "graphicsIdentity[20]",
    },
  },
  blockJob: {
    id: 16,
    message: 339,
    fields: {
      dom: "domain",
      disk: "string", // target, such as vda
      job: "enum:blockJobType",
      status: "enum:blockJobStatus",
    },
  },
  trayChange: {
    id: 10,
    message: 328,
    fields: {
      dom: "domain",
      alias: "string",
      reason: "enum:trayChange",
    },
  },
  balloonChange: {
    id: 13,
    message: 331,
    fields: {
      dom: "domain",
      actual: "u64", // KiB
    },
  },
  deviceRemoved: {
    id: 15,
    message: 333,
    fields: {
      dom: "domain",
      alias: "string",
    },
  },
  agentLifecycle: {
    id: 18,
    message: 348,
    fields: {
      dom: "domain",
      state: "enum:agentState",
      reason: "enum:agentReason",
    },
  },
  deviceAdded: {
    id: 19,
    message: 354,
    fields: {
      dom: "domain",
      alias: "string",
    },
  },
  migrationIteration: {
    id: 20,
    message: 359,
    fields: {
      dom: "domain",
      iteration: "i32",
    },
  },
  jobCompleted: {
    id: 21,
    message: 363,
    fields: {
      dom: "domain",
      params: "params[64]",
    },
  },
  deviceRemovalFailed: {
    id: 22,
    message: 367,
    fields: {
      dom: "domain",
      alias: "string",
    },
  },
  metadataChange: {
    id: 23,
    message: 379,
    fields: {
      dom: "domain",
      kind: "enum:metadataType",
      uri: "string?",
    },
  },
  /** Since libvirt 7.9. */
  memoryDeviceSizeChange: {
    id: 26,
    message: 438,
    fields: {
      dom: "domain",
      alias: "string",
      size: "u64", // KiB
    },
  },
} as const;

/** The name of an event. */
export type EventType = keyof typeof events;

/** The names of all events. */
export const eventTypes: readonly EventType[] = Object.keys(events) as EventType[];

/** One event of the given types. */
export type DomainEvent<Type extends EventType = EventType> = {
  [T in Type]: { readonly type: T } & Readonly<ReceivedFields<(typeof events)[T]["fields"]>>;
}[Type];
