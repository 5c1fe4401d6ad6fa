/** The numbers of libvirt's parameter types on the wire. */
export const parameterTypes = {
  int: 1,
  uint: 2,
  llong: 3,
  ullong: 4,
  double: 5,
  boolean: 6,
  string: 7,
} as const;

/**
 * A parameter type of libvirt. The daemon refuses a parameter with another type than it expects.
 */
export type ParameterType = keyof typeof parameterTypes;

/**
 * The parameters that calls take, with their types; `params:NAME` in a procedure refers to an entry.
 * A parameter that may be given more than once takes a list.
 */
export const parameterSets = {
  migration: {
    migrate_uri: "string",
    destination_name: "string",
    destination_xml: "string",
    persistent_xml: "string",
    bandwidth: "ullong", // MiB/s
    "bandwidth.postcopy": "ullong", // MiB/s
    "bandwidth.avail.switchover": "ullong", // bytes/s
    graphics_uri: "string",
    listen_address: "string",
    migrate_disks: "string",
    migrate_disks_detect_zeroes: "string",
    migrate_disks_target_zero: "string",
    disks_port: "int",
    disks_uri: "string",
    compression: "string",
    "compression.mt.level": "int",
    "compression.mt.threads": "int",
    "compression.mt.dthreads": "int",
    "compression.xbzrle.cache": "ullong",
    "compression.zlib.level": "int",
    "compression.zstd.level": "int",
    "auto_converge.initial": "int",
    "auto_converge.increment": "int",
    "parallel.connections": "int",
    "tls.destination": "string",
  },
  blockCopy: {
    bandwidth: "ullong", // bytes/s
    granularity: "uint",
    "buf-size": "ullong",
  },
} as const;

/**
 * A parameter's value as the daemon sends it: 64-bit integers are bigint, everything else has its
 * natural type.
 */
export type ParameterValue = number | bigint | boolean | string;

/** Parameters by name. The object has no prototype: a name is a key and nothing else. */
export type Parameters = Readonly<Record<string, ParameterValue>>;

interface ValueOfType {
  int: number;
  uint: number;
  llong: number | bigint;
  ullong: number | bigint;
  double: number;
  boolean: boolean;
  string: string | readonly string[];
}

/** What a call takes for one set of parameters. */
export type ParameterArguments<Set extends keyof typeof parameterSets> = {
  readonly [Name in keyof (typeof parameterSets)[Set]]?: (typeof parameterSets)[Set][Name] extends ParameterType
    ? ValueOfType[(typeof parameterSets)[Set][Name]]
    : never;
};
