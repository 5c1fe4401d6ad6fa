import { expect, test } from "vitest";
import { natTable } from "../plan/nat-rules.ts";
import { addNatDocument, deleteNatDocument } from "./nft-document.ts";

const table = natTable({
  family: "ip",
  podInterface: "eth0",
  bridge: "k6t-eth0",
  gateway: "10.0.2.1",
  guest: "10.0.2.2",
  podAddress: "10.244.1.5",
  iface: { name: "default", ports: [{ port: 80 }] },
  istio: false,
  tcpMigration: true,
  portRanges: false,
});

test("creates chains and never reuses them; rules come after all chains", () => {
  const { nftables } = addNatDocument([table]);
  const kinds = nftables.map((item) => {
    const [[verb, value] = []] = Object.entries(item);
    return `${verb} ${Object.keys(value as object)[0]}`;
  });
  expect(kinds.slice(0, 8)).toEqual(["add table", ...Array(6).fill("create chain"), "add rule"]);
  expect(kinds.slice(8).every((kind) => kind === "add rule")).toBe(true);
});

test("writes a set of ports, one address and the verdict in nft's format", () => {
  const text = JSON.stringify(addNatDocument([table]));
  expect(text).toContain(
    '{"match":{"op":"==","left":{"payload":{"protocol":"tcp","field":"dport"}},"right":{"set":[49152,49153]}}},{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":"127.0.0.1"}},{"counter":null},{"return":null}',
  );
});

test("removes only our chains, unless nothing else is in the table", () => {
  const ours = JSON.stringify(deleteNatDocument(["ip"], new Set()));
  expect(ours).not.toContain('"table":{');
  expect(ours.match(/"delete"/g)).toHaveLength(6);
  expect(deleteNatDocument(["ip6"], new Set(["ip6"]))).toEqual({
    nftables: [{ delete: { table: { family: "ip6", name: "nat" } } }],
  });
});
