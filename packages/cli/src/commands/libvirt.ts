import {
  connectLibvirt,
  type DomainRef,
  type EventType,
  eventTypes,
  type Flag,
  isLibvirtError,
  type Libvirt,
  lifecycleDetail,
  stateReason,
  statsGroups,
} from "@virtkit/domain-manager/libvirt";
import { type Io, writeAll } from "../io.ts";
import { parseOptions } from "../parse-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit libvirt --help`. */
export const help = `Usage: virtkit libvirt ls|xml|events|stats [OPTION]... [DOMAIN]...

  ls                list all domains: id, name, state and its reason
  xml DOMAIN        print the XML of a domain
  events            print each event as a line of JSON, until interrupted
  stats [DOMAIN]... print the statistics of these domains, or of all, as lines of JSON

  -c, --connect URI   a URI as for virsh, over unix, tcp or tls; default $LIBVIRT_DEFAULT_URI
                      or qemu:///system
      --inactive      xml: the configuration for the next start
      --type TYPE     events: only events of this type; may be repeated
      --count N       events: exit after this many events
      --group GROUP   stats: only this group; may be repeated

A DOMAIN is a name, a UUID or an ID. The command speaks libvirt's own protocol and needs no libvirt library.`;

interface Options {
  readonly connect?: string | undefined;
  readonly inactive?: boolean | undefined;
  readonly type?: string[] | undefined;
  readonly count?: string | undefined;
  readonly group?: string[] | undefined;
}

type Action = (
  libvirt: Libvirt,
  domains: readonly string[],
  options: Options,
  io: Io,
) => Promise<void>;

const actions: Readonly<Record<string, Action>> = { ls, xml, events, stats };

/** Asks a libvirtd; exits 1 with the daemon's words if it refuses. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions(args, {
    allowPositionals: true,
    options: {
      connect: { type: "string", short: "c" },
      inactive: { type: "boolean" },
      type: { type: "string", multiple: true },
      count: { type: "string" },
      group: { type: "string", multiple: true },
    },
  });
  const [name = "", ...domains] = positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action)
    throw new UsageError(`libvirt takes one of ls, xml, events and stats, not "${name}"`);
  checkOptions(name, domains, values);
  const uri = values.connect ?? io.env["LIBVIRT_DEFAULT_URI"] ?? "qemu:///system";
  const reconnect = name === "events" ? { firstDelay: 100, lastDelay: 5_000 } : false;
  await using libvirt = await connectLibvirt({ uri, reconnect });
  await action(libvirt, domains, values, io);
  return 0;
}

/** Everything that can be checked without a connection. */
function checkOptions(name: string, domains: readonly string[], options: Options): void {
  if (name === "xml" && domains.length !== 1) throw new UsageError("xml takes one domain");
  if ((name === "ls" || name === "events") && domains.length > 0) {
    throw new UsageError(`${name} takes no domain, got "${domains[0]}"`);
  }
  oneOf("--type", eventTypes, options.type);
  oneOf("--group", statsGroups, options.group);
  if (options.count !== undefined && !/^[1-9]\d{0,8}$/.test(options.count)) {
    throw new UsageError(`--count ${options.count}: use a number of at least 1`);
  }
}

function oneOf(option: string, allowed: readonly string[], given: readonly string[] = []): void {
  const wrong = given.find((value) => !allowed.includes(value));
  if (wrong !== undefined) {
    throw new UsageError(`${option} ${wrong}: use one of ${allowed.join(", ")}`);
  }
}

async function ls(libvirt: Libvirt, _: readonly string[], __: Options, io: Io): Promise<void> {
  const { domains } = await libvirt.call("connectListAllDomains", { needResults: true });
  const rows = await Promise.all(
    domains.map(async (dom) => {
      const { state, reason } = await libvirt.call("domainGetState", { dom });
      const id = dom.id < 0 ? "-" : String(dom.id);
      return [id, dom.name, `${state} (${stateReason(state, reason)})`];
    }),
  );
  const all = [["ID", "NAME", "STATE"], ...rows];
  const width = (column: number): number => Math.max(...all.map((row) => row[column]?.length ?? 0));
  const widths = [width(0), width(1), 0];
  for (const row of all) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    await writeAll(io.stdout, `${cells.join("  ").trimEnd()}\n`);
  }
}

async function xml(
  libvirt: Libvirt,
  [name = ""]: readonly string[],
  { inactive }: Options,
  io: Io,
): Promise<void> {
  const dom = await find(libvirt, name);
  const flags = inactive ? (["inactive"] as const) : [];
  await writeAll(io.stdout, (await libvirt.call("domainGetXmlDesc", { dom, flags })).xml);
}

async function events(
  libvirt: Libvirt,
  _: readonly string[],
  { type, count }: Options,
  io: Io,
): Promise<void> {
  const types = (type ?? eventTypes) as readonly EventType[];
  await using stream = await libvirt.subscribe(types);
  let left = Number(count ?? Number.POSITIVE_INFINITY);
  for await (const item of stream) {
    const named =
      item.type === "lifecycle"
        ? { ...item, detail: lifecycleDetail(item.event, item.detail) }
        : item;
    await writeAll(io.stdout, `${toJson(named)}\n`);
    left--;
    if (left === 0) return;
  }
}

async function stats(
  libvirt: Libvirt,
  names: readonly string[],
  { group }: Options,
  io: Io,
): Promise<void> {
  const domains = await Promise.all(names.map((name) => find(libvirt, name)));
  const { records } = await libvirt.call("connectGetAllDomainStats", {
    domains,
    stats: (group ?? []) as readonly Flag<"statsGroups">[],
  });
  for (const { dom, params } of records) {
    await writeAll(io.stdout, `${toJson({ name: dom.name, uuid: dom.uuid, ...params })}\n`);
  }
}

/** A name takes precedence over a UUID, and that over an id. */
async function find(libvirt: Libvirt, text: string): Promise<DomainRef> {
  try {
    return (await libvirt.call("domainLookupByName", { name: text })).dom;
  } catch (error) {
    if (!isLibvirtError(error, "noDomain")) throw error;
    if (/^[0-9a-f-]{36}$/i.test(text)) {
      return (await libvirt.call("domainLookupByUuid", { uuid: text })).dom;
    }
    if (/^\d{1,9}$/.test(text)) {
      return (await libvirt.call("domainLookupById", { id: Number(text) })).dom;
    }
    throw error;
  }
}

/** Integers that JSON readers would round become strings. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one !== "bigint") return one;
    return Number.isSafeInteger(Number(one)) ? Number(one) : String(one);
  });
}
