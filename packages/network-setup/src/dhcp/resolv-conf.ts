import { formatIp } from "@virtkit/api/addresses";
import { parseIp } from "../ip-address.ts";
import { longestDomain } from "./search-domains.ts";

/** What a guest needs to know from the Pod's `/etc/resolv.conf`. */
export interface ResolvConf {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  readonly searchDomains: readonly string[];
}

/** Name server for the guest if the Pod has none. */
const defaultNameServer = "8.8.8.8";
const defaultSearchDomain = "cluster.local";

/**
 * Reads a resolv.conf as KubeVirt does: a `nameserver` line holds exactly one address, all `search`
 * lines are joined, and domains become lower case. Skips lines that make no sense. Uses the
 * defaults for a missing name server or search domain.
 */
export function parseResolvConf(content: string): ResolvConf {
  const lines = content.split("\n").map((line) => line.replace(/\r$/, ""));
  const servers = lines
    .filter((line) => line.startsWith("nameserver"))
    .map(words)
    .filter((fields) => fields.length === 2)
    .map(([, address = ""]) => parseIp(address))
    .filter((address) => address !== undefined);
  const domains = lines
    .filter((line) => line.startsWith("search"))
    .flatMap((line) => words(line.slice("search".length)))
    .map((domain) => domain.toLowerCase());
  const ipv4 = servers.filter((address) => address.length === 4).map(formatIp);
  const ipv6 = servers.filter((address) => address.length === 16).map(formatIp);
  return {
    ipv4: servers.length === 0 ? [defaultNameServer] : ipv4,
    ipv6,
    searchDomains: domains.length === 0 ? [defaultSearchDomain] : domains,
  };
}

/** The longest search domain that belongs to a Kubernetes service; "" if there is none. */
export function longestServiceDomain(searchDomains: readonly string[]): string {
  return longestDomain(searchDomains.filter((domain) => domain.includes(".svc.")));
}

/**
 * The domain to put in front of the search list so that a VM with a subdomain can resolve its
 * peers; "" if none is needed. Kubernetes leaves it out of the Pod's own resolv.conf.
 */
export function domainWithSubdomain(searchDomains: readonly string[], subdomain: string): string {
  const domain = longestServiceDomain(searchDomains);
  if (subdomain === "" || domain === "" || domain.startsWith(`${subdomain}.`)) return "";
  return `${subdomain}.${domain}`;
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
