import type { LocalNames } from "./local-names.ts";

/**
 * What a guest reaches in addition to the outside. `isolated`: nothing of the host and no other
 * guest. `open`: every address of the host except its loopback, and other open guests.
 */
export type NetworkMode = "isolated" | "open";

/**
 * The rules of a Pod's link, as one transaction for `nft`, in a table of its own: they can only
 * forbid, and change nothing that others allow or forbid. Forwarded traffic leaves behind the
 * host's address.
 */
export function networkTable(
  { nftTable, hostLink }: Pick<LocalNames, "nftTable" | "hostLink">,
  { podAddress }: { readonly podAddress: string },
  mode: NetworkMode,
): string {
  const from = `iifname "${hostLink}"`;
  const to = `oifname "${hostLink}"`;
  // Answers to what came from the other side. A flow that the Pod began does not count, however
  // long it lasts.
  const answers = "ct direction reply ct state established,related accept";
  const isolated = [
    "  chain contain {",
    // After conntrack (-200) and before any destination NAT (-100): ports that others publish on an
    // address of the host belong to the host, too. The host receives what is not unicast.
    "    type filter hook prerouting priority -190;",
    `    ${from} ${answers}`,
    `    ${from} meta nfproto ipv6 drop`,
    `    ${from} fib daddr type != unicast drop`,
    // Addresses of a link are never routed (RFC 3927). In a cloud they are those of the services that hand out
    // the host's own credentials, and on some the name server's, which stays.
    `    ${from} ip daddr 169.254.0.0/16 meta l4proto != { tcp, udp } drop`,
    `    ${from} ip daddr 169.254.0.0/16 th dport != 53 drop`,
    "  }",
    "  chain pass {",
    "    type filter hook forward priority 0;",
    `    ${to} ${answers}`,
    `    ${to} drop`,
    // The link of another Pod, which may be open.
    `    ${from} oifname "vk*" drop`,
    "  }",
  ];
  return [
    `table inet ${nftTable} {`,
    "  chain guard {",
    // Before conntrack: a sender other than the Pod is never an answer.
    "    type filter hook prerouting priority -300;",
    `    ${from} ip saddr != ${podAddress} drop`,
    `    ${from} ip daddr 127.0.0.0/8 drop`,
    "  }",
    ...(mode === "isolated" ? isolated : []),
    "  chain leaving {",
    "    type nat hook postrouting priority 100;",
    `    ip saddr ${podAddress} oifname != "${hostLink}" masquerade`,
    "  }",
    "}",
    "",
  ].join("\n");
}
