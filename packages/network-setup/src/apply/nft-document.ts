import {
  type NatChain,
  type NatFamily,
  type NatMatch,
  type NatRule,
  type NatTable,
  type NatVerdict,
  natChains,
} from "../plan/nat-rules.ts";

/** A document for `nft -j`: either all of it happens or nothing. */
export interface NftDocument {
  readonly nftables: readonly object[];
}

const table = "nat";
const ourChains = Object.keys(natChains) as NatChain[];

/**
 * Creates the tables. The chains must not exist: a rule is never added twice, nor to a chain of
 * others.
 */
export function addNatDocument(tables: readonly NatTable[]): NftDocument {
  return {
    nftables: tables.flatMap(({ family, rules }) => [
      { add: { table: { family, name: table } } },
      ...ourChains.map((name) => ({ create: { chain: chainObject(family, name) } })),
      ...rules.map((rule) => ({ add: { rule: ruleObject(family, rule) } })),
    ]),
  };
}

/** Removes our chains, and the tables named in `whole` with everything in them. */
export function deleteNatDocument(
  families: readonly NatFamily[],
  whole: ReadonlySet<NatFamily>,
): NftDocument {
  return {
    nftables: families.flatMap((family): object[] => {
      if (whole.has(family)) return [{ delete: { table: { family, name: table } } }];
      const chains = ourChains.map((name) => ({ chain: { family, table, name } }));
      // First the rules: a chain that is the target of a jump cannot be deleted.
      return [
        ...chains.map((chain) => ({ flush: chain })),
        ...chains.map((chain) => ({ delete: chain })),
      ];
    }),
  };
}

function chainObject(family: NatFamily, name: NatChain): object {
  const base = natChains[name];
  if (!base) return { family, table, name };
  return { family, table, name, type: "nat", hook: base.hook, prio: base.priority };
}

function ruleObject(family: NatFamily, { chain, matches, verdict }: NatRule): object {
  const expr = [
    ...matches.map((match) => ({ match: { op: "==", ...matchObject(family, match) } })),
    { counter: null },
    verdictObject(verdict),
  ];
  return { family, table, chain, expr };
}

function matchObject(family: NatFamily, match: NatMatch): object {
  switch (match.kind) {
    case "interface":
      return {
        left: { meta: { key: match.direction === "in" ? "iifname" : "oifname" } },
        right: match.name,
      };
    case "address": {
      const field = match.side === "source" ? "saddr" : "daddr";
      const { is } = match;
      return {
        left: { payload: { protocol: family, field } },
        right: typeof is === "string" ? is : { set: is },
      };
    }
    case "port":
      return {
        left: { payload: { protocol: match.protocol, field: "dport" } },
        right: portObject(match.is),
      };
  }
}

function portObject(is: Extract<NatMatch, { kind: "port" }>["is"]): unknown {
  if (typeof is === "number") return is;
  return "first" in is ? { range: [is.first, is.last] } : { set: is };
}

function verdictObject(verdict: NatVerdict): object {
  switch (verdict.kind) {
    case "jump":
      return { jump: { target: verdict.chain } };
    case "dnat":
    case "snat":
      return { [verdict.kind]: { addr: verdict.to } };
    default:
      return { [verdict.kind]: null };
  }
}
