import { NetworkSetupError } from "../network-setup-error.ts";

/** The most bytes that one DHCP option can hold; KubeVirt refuses longer search lists. */
const maxOptionBytes = 255;
const maxDomainLength = 253;

/** Labels of letters, digits, `-` and `_`; the last one starts with a letter or is empty. */
const validDomain =
  /^(?:[_a-z0-9](?:[_a-z0-9-]{0,61}[a-z0-9])?\.)*(?:[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)?$/;

/**
 * The search list in the form of DHCP option 119: labels with their lengths (RFC 1035, RFC 3397),
 * without compression. Undefined if there is no domain. Throws a {@link NetworkSetupError} on an
 * invalid domain, on one that is not lower case, and on a list that does not fit into an option.
 */
export function encodeSearchDomains(domains: readonly string[]): Uint8Array | undefined {
  if (domains.length === 0) return undefined;
  const bytes = Buffer.concat(domains.map(encodeDomain));
  if (bytes.length > maxOptionBytes) {
    const message = `the search domains take ${bytes.length} bytes; a DHCP option holds ${maxOptionBytes}: shorten the list`;
    throw new NetworkSetupError("NETWORK_DHCP_CONFIG_INVALID", message, { path: "searchDomains" });
  }
  return bytes;
}

/**
 * The longest of the domains, which is most likely *the* domain of the Pod; "" if there is none.
 */
export function longestDomain(domains: readonly string[]): string {
  return domains.reduce((best, domain) => (domain.length > best.length ? domain : best), "");
}

function encodeDomain(domain: string): Buffer {
  if (domain.length > maxDomainLength || !validDomain.test(domain)) {
    const message = `search domain ${JSON.stringify(domain)} is not valid; use a DNS name in lower case`;
    throw new NetworkSetupError("NETWORK_DHCP_CONFIG_INVALID", message, { path: "searchDomains" });
  }
  const labels = domain.split(".").map((label) => Buffer.from(label, "ascii"));
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), label]),
    Buffer.from([0]),
  ]);
}
