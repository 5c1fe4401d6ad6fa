import {
  type Dhcp4Config,
  dhcp4Options,
  dhcp4Responder,
  dhcp6Responder,
  domainWithSubdomain,
  encodeSearchDomains,
  isNetworkSetupError,
  longestDomain,
  longestServiceDomain,
  masqueradeDhcpConfig,
  parseResolvConf,
  type Route,
} from "@virtkit/network-setup/dhcp";
import type { BatchFunction } from "./batch-area.ts";
import { stringField } from "./input-fields.ts";

/** The pure functions of `@virtkit/network-setup/dhcp`. Bytes travel as hexadecimal text. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "dhcp4-options": answering((input) => ({
    options: Object.fromEntries(
      [...dhcp4Options(config4(input))].map(([code, value]) => [code, hex(value)]),
    ),
  })),
  "dhcp4-reply": answering((input) => {
    const [, address = "", port = ""] = /^(.*):(\d+)$/.exec(stringField(input, "from")) ?? [];
    const request = Buffer.from(stringField(input, "request"), "hex");
    const config = config4(input);
    const reply = dhcp4Responder(config)(request, { address, port: Number(port) });
    if (!reply) return { reply: null };
    return {
      reply: hex(reply.payload),
      length: reply.payload.length,
      sentTo: `${reply.to.address}:${reply.to.port}`,
      sortedOptions: [...dhcp4Options(config).keys()],
    };
  }),
  "dhcp6-reply": answering((input) => {
    const respond = dhcp6Responder({
      clientIp: stringField(input, "clientIP"),
      serverMac: stringField(input, "serverMAC"),
      nameservers: strings(input, "nameservers"),
    });
    return { reply: hex(respond(Buffer.from(stringField(input, "request"), "hex"))) };
  }),
  "resolv-conf": answering((input) => {
    const { ipv4, ipv6, searchDomains } = parseResolvConf(stringField(input, "content"));
    const { subdomain = "" } = input as { subdomain?: string };
    return {
      ipv4,
      ipv6,
      searchDomains,
      domainName: longestDomain(searchDomains),
      longestServiceDomain: longestServiceDomain(searchDomains),
      domainWithSubdomain: domainWithSubdomain(searchDomains, subdomain),
      ...searchOption(searchDomains),
    };
  }),
  "dhcp-config-masquerade": answering((input) => {
    const { mtu, network, linkMissing, subdomain, hasIPv4GlobalUnicast, hasIPv6GlobalUnicast } =
      input as MasqueradeInput;
    const name = stringField(input, "podInterfaceName");
    if (linkMissing) return { error: `there is no link ${name}` };
    const families = { ipv4: hasIPv4GlobalUnicast, ipv6: hasIPv6GlobalUnicast };
    const config = masqueradeDhcpConfig({ name, mtu }, network.pod ?? {}, families, subdomain);
    return {
      advertisingInterface: `k6t-${name}`,
      config: {
        name: config.name,
        mac: "",
        mtu: config.mtu,
        subdomain: config.subdomain,
        ipamDisabled: false,
        ip: config.ip,
        gateway: config.gateway,
        advertisingIP: config.advertisingIp,
        ipv6: config.ipv6,
        advertisingIPv6: config.advertisingIpv6,
      },
    };
  }),
};

interface MasqueradeInput {
  readonly mtu: number;
  readonly network: { readonly pod?: { vmNetworkCIDR?: string; vmIPv6NetworkCIDR?: string } };
  readonly linkMissing?: boolean;
  readonly subdomain?: string;
  readonly hasIPv4GlobalUnicast: boolean;
  readonly hasIPv6GlobalUnicast: boolean;
}

/** The input's names are KubeVirt's; ours differ in their capitals. */
function config4(input: unknown): Dhcp4Config {
  const { clientMAC, clientIP, serverIP, routerIP, ...rest } = input as Record<string, string>;
  const { mtu, routes, dhcpOptions } = rest as unknown as {
    mtu: number;
    routes?: Route[];
    dhcpOptions?: Dhcp4Config["dhcpOptions"];
  };
  return {
    ...(clientMAC ? { clientMac: clientMAC } : {}),
    ...(clientIP ? { clientIp: clientIP } : {}),
    ...(routerIP ? { routerIp: routerIP } : {}),
    serverIp: serverIP ?? "",
    nameservers: strings(input, "nameservers"),
    searchDomains: strings(input, "searchDomains"),
    mtu,
    hostname: stringField(input, "hostname"),
    ...(routes ? { routes } : {}),
    ...(dhcpOptions ? { dhcpOptions } : {}),
  };
}

function searchOption(domains: readonly string[]): object {
  try {
    return { searchOption: hex(encodeSearchDomains(domains) ?? new Uint8Array()) };
  } catch (cause) {
    return { searchOptionError: (cause as Error).message };
  }
}

/** A configuration or message that the package refuses is an answer, `{ error }`. */
function answering(run: (input: unknown) => unknown): BatchFunction {
  return (input) => {
    try {
      return run(input);
    } catch (cause) {
      if (!isNetworkSetupError(cause)) throw cause;
      return { error: cause.message };
    }
  };
}

function strings(input: unknown, name: string): string[] {
  const value = (input as Record<string, unknown>)[name] ?? [];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new TypeError(`input.${name} must be a list of strings`);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
