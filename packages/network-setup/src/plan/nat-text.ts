import {
  type NatFamily,
  type NatMatch,
  type NatTable,
  type NatVerdict,
  natChains,
} from "./nat-rules.ts";

/** The `nft` commands that create a table, one by one, for people. */
export function natCommands({ family, rules }: NatTable): readonly string[] {
  const table = `${family} nat`;
  return [
    `add table ${table}`,
    ...Object.entries(natChains).map(([name, base]) =>
      base
        ? `add chain ${table} ${name} { type nat hook ${base.hook} priority ${base.priority}; }`
        : `add chain ${table} ${name}`,
    ),
    ...rules.map(({ chain, matches, verdict }) => {
      const words = [...matches.map((match) => matchText(family, match)), "counter"];
      return `add rule ${table} ${chain} ${words.join(" ")} ${verdictText(verdict)}`;
    }),
  ];
}

function matchText(family: NatFamily, match: NatMatch): string {
  switch (match.kind) {
    case "interface":
      return `${match.direction === "in" ? "iifname" : "oifname"} ${match.name}`;
    case "address":
      return `${family} ${match.side === "source" ? "saddr" : "daddr"} ${setText(match.is)}`;
    case "port":
      return `${match.protocol} dport ${setText(match.is)}`;
  }
}

function setText(
  is: string | number | readonly (string | number)[] | { first: number; last: number },
): string {
  if (typeof is !== "object") return String(is);
  return "first" in is ? `${is.first}-${is.last}` : `{ ${is.join(", ")} }`;
}

function verdictText(verdict: NatVerdict): string {
  switch (verdict.kind) {
    case "jump":
      return `jump ${verdict.chain}`;
    case "dnat":
    case "snat":
      return `${verdict.kind} to ${verdict.to}`;
    default:
      return verdict.kind;
  }
}
