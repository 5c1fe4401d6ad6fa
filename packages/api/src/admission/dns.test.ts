import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const config = (dnsConfig: Change, dnsPolicy?: string): Change => ({
  dnsConfig,
  ...(dnsPolicy ? { dnsPolicy } : {}),
});

test.each<[Change, string[]]>([
  [{ dnsPolicy: "ClusterFirst" }, []],
  [{ dnsPolicy: "Nearest" }, ["schema"]],
  [{ dnsPolicy: "None" }, ["Required spec.dnsConfig"]],
  [config({}, "None"), ["Required nameservers"]],
  [config({ nameservers: ["1.1.1.1"] }, "None"), []],
  [
    config({ nameservers: ["008.8.8.8", "::1"], searches: ["a.b"], options: [{ name: "ndots" }] }),
    [],
  ],
  [config({ nameservers: ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"] }), ["Invalid nameservers"]],
  [config({ nameservers: ["one", "two"] }), ["Invalid nameservers", "Invalid nameservers"]],
  [config({ searches: ["a", "b", "c", "d", "e", "f", "g"] }), ["Invalid searchDomains"]],
  [
    config({ searches: [`${"a".repeat(60)}.${"b".repeat(60)}`, "c".repeat(200)] }),
    ["Invalid searchDomains"],
  ],
  [config({ searches: ["A"] }), ["Invalid searchDomains"]],
  [config({ options: [{ value: "1" }] }), ["Invalid options"]],
])("%j: %j", (change, expected) => {
  expect(verdict(change)).toEqual(expected);
});
