import { isObject, type JsonObject } from "@virtkit/api/shape";
import { InputError } from "./input-fields.ts";

/** The shape of a field: a kind of value, a list of one shape, fields by name, or all fields of one shape. */
type Shape =
  | "text"
  | "number"
  | "flag"
  | "object"
  | readonly [Shape]
  | { readonly [name: string]: Shape }
  | Each;

class Each {
  readonly shape: Shape;

  constructor(shape: Shape) {
    this.shape = shape;
  }
}

const timed: Shape = { startTimestamp: "text", endTimestamp: "text" };

const domain: Shape = {
  ...{ status: "text", reason: "text", uid: "text", deleted: "flag", acpi: "flag", type: "text" },
  ...{ machine: "text", osInfo: "object", fsFreezeStatus: "text" },
  metadata: {
    accessCredential: { succeeded: "flag", message: "text" },
    gracePeriod: {
      ...{ deletionGracePeriodSeconds: "number", deletionTimestamp: "text" },
      markedForGracefulShutdown: "flag",
    },
    migration: timed,
    memoryDump: { ...timed, fileName: "text" },
    backup: { ...timed, name: "text", volumes: "text" },
  },
  currentMemory: { value: "number", unit: "text" },
  disks: [{ alias: "text", target: "text", file: "text", dev: "text", dataStore: "flag" }],
  interfaces: [{ alias: "text", mac: "text", queues: "number", link: "text" }],
  hostDevices: [{ alias: "text" }],
  channels: [{ name: "text", state: "text" }],
  guestInterfaces: [{ mac: "text", ips: ["text"], interfaceName: "text" }],
};

const context: Shape = {
  launcher: {
    ...{ state: "text", connected: "flag", ping: "flag", info: "flag", errors: new Each("text") },
    guestInfo: {
      guestAgentVersion: "text",
      supportedCommands: [{ name: "text", enabled: "flag" }],
    },
  },
  containerDisks: { checksums: new Each("number"), kernel: "number", initrd: "number" },
  hotplug: { mounted: ["text"], mountError: "text" },
  failingHooks: "object",
  podInterfaces: new Each({ podIPs: ["text"] }),
  files: new Each("number"),
  ghostRecordUID: "text",
  numaCells: ["number"],
  backupTrackers: ["object"],
};

const pass = { vmi: "object", vmiPatch: "object", domain, advanceSeconds: "number" } as const;

/** Throws an error that names the first field of a pass, or of its context, with another shape. */
export function checkHandlerCase(input: unknown, given: unknown): void {
  check({ ...pass, host: "text", steps: [pass] }, input, "input");
  check(context, given, "context");
}

const kinds = { text: "string", number: "number", flag: "boolean" } as const;

/** Fields that are missing or null are fine. */
function check(shape: Shape, value: unknown, path: string): void {
  if (value === undefined || value === null) return;
  if (shape === "text" || shape === "number" || shape === "flag") {
    const kind: string = typeof value;
    if (kind !== kinds[shape]) throw new InputError(path, `is not a ${kinds[shape]}`);
  } else if (Array.isArray(shape)) {
    checkList((shape as readonly [Shape])[0], value, path);
  } else if (isObject(value)) {
    checkFields(shape, value, path);
  } else {
    throw new InputError(path, "is not an object");
  }
}

function checkList(shape: Shape, value: unknown, path: string): void {
  if (!Array.isArray(value)) throw new InputError(path, "is not a list");
  value.forEach((item: unknown, at) => {
    if (item === undefined || item === null) throw new InputError(`${path}[${at}]`, "is missing");
    check(shape, item, `${path}[${at}]`);
  });
}

function checkFields(shape: Shape, value: JsonObject, path: string): void {
  if (typeof shape === "string") return;
  const all = shape instanceof Each;
  for (const name of Object.keys(all ? value : shape)) {
    const inner = all ? shape.shape : (shape as Readonly<Record<string, Shape>>)[name];
    if (inner) check(inner, value[name], `${path}.${name}`);
  }
}
