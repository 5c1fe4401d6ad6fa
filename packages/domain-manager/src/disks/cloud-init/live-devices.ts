import { SaxesParser } from "saxes";
import { DiskError } from "../disk-error.ts";

/** An address as libvirt writes it; each part with `0x` before it. */
export interface LiveAddress {
  readonly type?: string;
  readonly domain?: string;
  readonly bus?: string;
  readonly slot?: string;
  readonly function?: string;
}

/** A device of a running domain. */
export interface LiveDevice {
  /** Without the `ua-` prefix of user-defined aliases. */
  readonly alias?: string;
  /** In the guest. */
  readonly address?: LiveAddress;
  /** On the host. */
  readonly source?: LiveAddress;
  readonly mac?: string;
}

/** What device metadata needs from a running domain. */
export interface LiveDevices {
  readonly interfaces: readonly LiveDevice[];
  readonly hostDevices: readonly LiveDevice[];
  /** vCPU by the host CPU to which it is pinned. */
  readonly vcpuOfCpu: ReadonlyMap<string, number>;
}

const userAlias = "ua-";

/**
 * Reads the interfaces, host devices and CPU pins of a live domain's XML.
 *
 * @throws DiskError if it is not well-formed, or not a domain.
 */
export function readLiveDevices(domainXml: string): LiveDevices {
  const interfaces: LiveDevice[] = [];
  const hostDevices: LiveDevice[] = [];
  const vcpuOfCpu = new Map<string, number>();
  const lists: Readonly<Record<string, LiveDevice[]>> = {
    interface: interfaces,
    hostdev: hostDevices,
  };
  const path: string[] = [];
  let current: Record<string, unknown> = {};
  let root = "";

  const parser = new SaxesParser();
  parser.on("opentag", ({ name, attributes }) => {
    root ||= name;
    path.push(name);
    const place = path.join("/");
    const list = /^domain\/devices\/(interface|hostdev)$/.test(place) ? lists[name] : undefined;
    if (list) {
      current = {};
      list.push(current);
    }
    if (place === "domain/cputune/vcpupin") {
      vcpuOfCpu.set(attributes["cpuset"] ?? "", Number(attributes["vcpu"]));
    }
    const inside = /^domain\/devices\/(?:interface|hostdev)\/(.+)$/.exec(place)?.[1];
    if (inside) Object.assign(current, facts[inside]?.(attributes));
  });
  parser.on("closetag", () => path.pop());

  let ended = false;
  try {
    parser.write(domainXml);
    ended = true;
    parser.close();
  } catch (cause) {
    const what = ended ? "it ends too early" : "it is not well-formed";
    const message = `live domain: line ${parser.line}: ${what}`;
    throw new DiskError("DISK_DOMAIN_INVALID", message, { path: "domain", cause });
  }
  if (root !== "domain") {
    const message = `live domain: the document is a <${root}>, not a <domain>`;
    throw new DiskError("DISK_DOMAIN_INVALID", message, { path: root });
  }
  return { interfaces, hostDevices, vcpuOfCpu };
}

type Attributes = Readonly<Record<string, string>>;

/** What an element inside a device says about it. */
const facts: Readonly<Record<string, (attributes: Attributes) => LiveDevice>> = {
  alias: ({ name = "" }) => ({
    alias: name.startsWith(userAlias) ? name.slice(userAlias.length) : name,
  }),
  address: (attributes) => ({ address: { ...attributes } }),
  "source/address": (attributes) => ({ source: { ...attributes } }),
  mac: ({ address }) => (address === undefined ? {} : { mac: address }),
};
