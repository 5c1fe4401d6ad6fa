import { linkNames } from "@virtkit/api/network";
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
import type { BatchFunction } from "../batch/batch-area.ts";
import {
  integerField,
  listField,
  objectField,
  objectsOf,
  stringField,
  textField,
  textsField,
} from "./input-fields.ts";

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
      nameservers: textsField(input, "nameservers"),
    });
    return { reply: hex(respond(Buffer.from(stringField(input, "request"), "hex"))) };
  }),
  "resolv-conf": answering((input) => {
    const { ipv4, ipv6, searchDomains } = parseResolvConf(stringField(input, "content"));
    const subdomain = textField(input, "subdomain");
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
    const name = stringField(input, "podInterfaceName");
    const given = objectsOf<Record<string, unknown>>([input], "input")[0] ?? {};
    if (given["linkMissing"] === true) return { error: `there is no link ${name}` };
    const families = {
      ipv4: given["hasIPv4GlobalUnicast"] === true,
      ipv6: given["hasIPv6GlobalUnicast"] === true,
    };
    const pod = (objectField(input, "network") as { pod?: unknown }).pod;
    const network = {
      vmNetworkCIDR: textField(pod, "vmNetworkCIDR", "input.network.pod"),
      vmIPv6NetworkCIDR: textField(pod, "vmIPv6NetworkCIDR", "input.network.pod"),
    };
    const link = { name, mtu: Number(integerField(input, "mtu")) };
    const config = masqueradeDhcpConfig(link, network, families, textField(input, "subdomain"));
    return {
      advertisingInterface: linkNames(name, { name: "", pod: {} }).bridge,
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

/** The input's names are KubeVirt's; ours differ in their capitals. */
function config4(input: unknown): Dhcp4Config {
  const { clientMAC, clientIP, routerIP } = optionalTexts(
    input,
    "clientMAC",
    "clientIP",
    "routerIP",
  );
  const given = Object(input) as Record<string, unknown>;
  return {
    ...(clientMAC ? { clientMac: clientMAC } : {}),
    ...(clientIP ? { clientIp: clientIP } : {}),
    ...(routerIP ? { routerIp: routerIP } : {}),
    serverIp: textField(input, "serverIP"),
    nameservers: textsField(input, "nameservers"),
    searchDomains: textsField(input, "searchDomains"),
    mtu: Number(integerField(input, "mtu")),
    hostname: stringField(input, "hostname"),
    routes: listField<Route>(input, "routes").map(routeOf),
    dhcpOptions: dhcpOptionsOf(given["dhcpOptions"]),
  };
}

function routeOf(route: Route, index: number): Route {
  const at = `input.routes[${index}]`;
  const [dst, gw] = [textField(route, "dst", at), textField(route, "gw", at)];
  return { ...(dst ? { dst } : {}), ...(gw ? { gw } : {}) };
}

function dhcpOptionsOf(value: unknown): NonNullable<Dhcp4Config["dhcpOptions"]> {
  const at = "input.dhcpOptions";
  return {
    ntpServers: [...textsField(value, "ntpServers", at)],
    tftpServerName: textField(value, "tftpServerName", at),
    bootFileName: textField(value, "bootFileName", at),
    privateOptions: listField(value, "privateOptions", at).map((option) => ({
      option: Number(integerField(option, "option")),
      value: textField(option, "value", `${at}.privateOptions`),
    })),
  };
}

/** Strings that may be missing; then they are empty. */
function optionalTexts<Name extends string>(
  holder: unknown,
  ...names: readonly Name[]
): Readonly<Record<Name, string>> {
  const texts = names.map((name) => [name, textField(holder, name)]);
  return Object.fromEntries(texts) as Record<Name, string>;
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

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
