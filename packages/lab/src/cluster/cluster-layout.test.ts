import { expect, test } from "vitest";
import { clusterLayout } from "./cluster-layout.ts";
import { cutRules } from "./cluster-network.ts";

const options = { name: "lab", nodes: 2, addresses: "10.99", parent: "/clusters" };

test("all addresses of a cluster are in its own network, and no two parts share one", () => {
  const layout = clusterLayout(options);
  expect(layout.nodes.map(({ name, address, podNetwork }) => [name, address, podNetwork])).toEqual([
    ["node-1", "10.99.0.11", "10.99.128.0/24"],
    ["node-2", "10.99.0.12", "10.99.129.0/24"],
  ]);
  expect(layout).toMatchObject({
    hostAddress: "10.99.0.1",
    loopback: "127.10.99.1",
    serviceNetwork: "10.99.64.0/18",
    apiServiceAddress: "10.99.64.1",
    podNetwork: "10.99.128.0/17",
  });
});

test("names of interfaces fit the kernel's limit with the longest addresses and the last node", () => {
  const { bridge, nodes } = clusterLayout({ ...options, addresses: "172.255", nodes: 9 });
  expect(bridge.length).toBeLessThan(16);
  expect(nodes[8]?.link.length).toBeLessThan(16);
});

test.each([
  ["name", { name: "-lab" }],
  ["name", { name: "a/b" }],
  ["name", { name: "x".repeat(32) }],
  ["nodes", { nodes: 1.5 }],
  ["nodes", { nodes: 10 }],
  ["addresses", { addresses: "10" }],
  ["addresses", { addresses: "10.256" }],
])("rejects a wrong %s: %j", (field, wrong) => {
  expect(() => clusterLayout({ ...options, ...wrong })).toThrow(
    new RegExp(`^${field}: .* must be`),
  );
});

test("a cut from the API server drops only traffic to and from it, and nothing else of this host", () => {
  const layout = clusterLayout(options);
  const [node] = layout.nodes;
  const rules = node ? cutRules(layout, node, "api") : "";
  expect(rules).toContain("ip daddr 10.99.0.1 tcp dport 6443 drop");
  expect(rules).toContain("ip saddr 10.99.0.1 tcp sport 6443 drop");
  expect(rules).not.toMatch(/ip [sd]addr 10\.99\.0\.1 drop/);
  for (const hook of ["input", "output", "forward"]) expect(rules).toContain(`hook ${hook} `);
});

test("a cut from the other nodes also drops what their Pods send", () => {
  const layout = clusterLayout(options);
  const [node] = layout.nodes;
  const rules = node ? cutRules(layout, node, "peers") : "";
  expect(rules).toContain("ip saddr { 10.99.0.12, 10.99.129.0/24 } drop");
});
