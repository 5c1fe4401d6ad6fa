import type { Interface } from "@virtkit/api/schema";

export type NatFamily = "ip" | "ip6";

/** Conditions of a rule. */
export type NatMatch =
  | { readonly kind: "interface"; readonly direction: "in" | "out"; readonly name: string }
  | {
      readonly kind: "address";
      readonly side: "source" | "destination";
      /** One address, or any of a set. */
      readonly is: string | readonly string[];
    }
  | {
      readonly kind: "port";
      readonly protocol: string;
      /** One port, any of a set, or any from the first to the last. */
      readonly is: number | readonly number[] | { readonly first: number; readonly last: number };
    };

/** What happens to a matching packet. */
export type NatVerdict =
  | { readonly kind: "masquerade" | "return" }
  | { readonly kind: "jump"; readonly chain: NatChain }
  | { readonly kind: "dnat" | "snat"; readonly to: string };

export interface NatRule {
  readonly chain: NatChain;
  readonly matches: readonly NatMatch[];
  readonly verdict: NatVerdict;
}

/** The rules of one family: everything that we put into its `nat` table. */
export interface NatTable {
  readonly family: NatFamily;
  readonly rules: readonly NatRule[];
}

/** Our chains, in the order in which they are created; those with a hook see every packet. */
export const natChains: Readonly<
  Record<NatChain, { readonly hook: string; readonly priority: number } | undefined>
> = {
  prerouting: { hook: "prerouting", priority: -100 },
  input: { hook: "input", priority: 100 },
  output: { hook: "output", priority: -100 },
  postrouting: { hook: "postrouting", priority: 100 },
  KUBEVIRT_PREINBOUND: undefined,
  KUBEVIRT_POSTINBOUND: undefined,
};

export type NatChain =
  | "prerouting"
  | "input"
  | "output"
  | "postrouting"
  | "KUBEVIRT_PREINBOUND"
  | "KUBEVIRT_POSTINBOUND";

/** Ports of istio's Envoy: packets to them must not go to the guest. */
const envoyPorts = [15000, 15001, 15004, 15006, 15008, 15009, 15020, 15021, 15053, 15090];
/** Ports that bypass Envoy: SSH. */
const unproxiedPorts = [22];
/** Envoy's own source address. */
const envoyLoopback = "127.0.0.6";
/** Where libvirt listens in a launcher without unix migration: direct and block migration. */
const migrationPorts = [49152, 49153];

/** The input for the NAT of one family. */
export interface NatInput {
  readonly family: NatFamily;
  readonly podInterface: string;
  readonly bridge: string;
  readonly gateway: string;
  readonly guest: string;
  /** The Pod's own address, by which istio lets the Pod reach its guest. */
  readonly podAddress: string | undefined;
  readonly iface: Interface;
  readonly istio: boolean;
  /** Whether migrations of this VMI arrive on TCP ports. */
  readonly tcpMigration: boolean;
  /** Whether `portRanges` is used. */
  readonly portRanges: boolean;
}

/**
 * The NAT between Pod and guest for one IP family. Without a list of ports, everything that arrives
 * at the Pod's interface goes to the guest; with a list, only those ports. What the Pod sends to
 * its own loopback also goes to the guest, with the gateway as its source so that the answer finds
 * its way back.
 */
export function natTable(input: NatInput): NatTable {
  const wanted = wantedPorts(input);
  const rules = [
    ...frame(input),
    ...(input.tcpMigration ? exempt(input, migrationPorts) : []),
    ...(wanted.length === 0 ? allPorts(input) : wanted.flatMap((ports) => somePorts(input, ports))),
  ];
  return { family: input.family, rules };
}

interface WantedPorts {
  readonly protocol: string;
  readonly is: number | { readonly first: number; readonly last: number };
}

function wantedPorts({ iface, portRanges }: NatInput): readonly WantedPorts[] {
  const ports = (iface.ports ?? []).map(({ port, protocol }) => ({
    protocol: (protocol || "tcp").toLowerCase(),
    is: port,
  }));
  const ranges = (portRanges ? (iface.portRanges ?? []) : []).map(({ start, end, protocol }) => ({
    protocol: (protocol ?? "").toLowerCase(),
    is: { first: start, last: end },
  }));
  return [...ports, ...ranges];
}

function frame({ podInterface, bridge, guest }: NatInput): NatRule[] {
  return [
    rule("postrouting", [source(guest)], { kind: "masquerade" }),
    rule("prerouting", [{ kind: "interface", direction: "in", name: podInterface }], {
      kind: "jump",
      chain: "KUBEVIRT_PREINBOUND",
    }),
    rule("postrouting", [{ kind: "interface", direction: "out", name: bridge }], {
      kind: "jump",
      chain: "KUBEVIRT_POSTINBOUND",
    }),
  ];
}

function allPorts(input: NatInput): NatRule[] {
  const { gateway, guest, istio } = input;
  const inbound = istio
    ? [...exempt(input, envoyPorts), ...forward(input, "tcp", unproxiedPorts)]
    : [rule("KUBEVIRT_PREINBOUND", [], { kind: "dnat", to: guest })];
  return [
    ...inbound,
    rule("KUBEVIRT_POSTINBOUND", [source(localSources(input))], { kind: "snat", to: gateway }),
    rule("output", [destination(localDestinations(input))], { kind: "dnat", to: guest }),
  ];
}

function somePorts(input: NatInput, { protocol, is }: WantedPorts): NatRule[] {
  const { gateway, guest, istio } = input;
  const inbound = istio
    ? forward(
        input,
        "tcp",
        unproxiedPorts.filter((port) => covers(is, port)),
      )
    : forward(input, protocol, typeof is === "number" ? [is] : is);
  const port: NatMatch = { kind: "port", protocol, is };
  return [
    ...inbound,
    rule("KUBEVIRT_POSTINBOUND", [port, source(localSources(input))], {
      kind: "snat",
      to: gateway,
    }),
    rule("output", [destination(localDestinations(input)), port], { kind: "dnat", to: guest }),
  ];
}

function covers(is: WantedPorts["is"], port: number): boolean {
  return typeof is === "number" ? is === port : is.first <= port && port <= is.last;
}

/** Leaves these ports of the Pod's loopback alone. */
function exempt({ family }: NatInput, ports: readonly number[]): NatRule[] {
  const matches = [{ kind: "port", protocol: "tcp", is: ports } as const, source(loopback(family))];
  return [
    rule("output", matches, { kind: "return" }),
    rule("KUBEVIRT_POSTINBOUND", matches, { kind: "return" }),
  ];
}

function forward(
  { guest }: NatInput,
  protocol: string,
  is: readonly number[] | { readonly first: number; readonly last: number },
): NatRule[] {
  if (Array.isArray(is) && is.length === 0) return [];
  return [
    rule("KUBEVIRT_PREINBOUND", [{ kind: "port", protocol, is }], { kind: "dnat", to: guest }),
  ];
}

function localSources({ family, istio }: NatInput): readonly string[] {
  return istio && family === "ip" ? [loopback(family), envoyLoopback] : [loopback(family)];
}

function localDestinations({ family, istio, podAddress }: NatInput): readonly string[] {
  const own = istio && family === "ip" && podAddress !== undefined ? [podAddress] : [];
  return [loopback(family), ...own];
}

function loopback(family: NatFamily): string {
  return family === "ip" ? "127.0.0.1" : "::1";
}

function source(is: string | readonly string[]): NatMatch {
  return { kind: "address", side: "source", is };
}

function destination(is: readonly string[]): NatMatch {
  return { kind: "address", side: "destination", is };
}

function rule(chain: NatChain, matches: readonly NatMatch[], verdict: NatVerdict): NatRule {
  return { chain, matches, verdict };
}
