import { expect, test } from "vitest";
import { domainWithSubdomain, longestServiceDomain, parseResolvConf } from "./resolv-conf.ts";

test("splits servers by family, and joins search lists in lower case", () => {
  const text =
    "nameserver 10.96.0.10\nnameserver fd00::10\nsearch NS.svc.x x\nsearch y\noptions ndots:5\n";
  expect(parseResolvConf(text)).toEqual({
    ipv4: ["10.96.0.10"],
    ipv6: ["fd00::10"],
    searchDomains: ["ns.svc.x", "x", "y"],
  });
});

test("uses defaults for what is missing", () => {
  expect(parseResolvConf("nameserver one two\nnameserver nonsense\n")).toEqual({
    ipv4: ["8.8.8.8"],
    ipv6: [],
    searchDomains: ["cluster.local"],
  });
  expect(parseResolvConf("nameserver fd00::10").ipv4).toEqual([]);
});

test("puts a subdomain before the longest service domain, once", () => {
  const domains = ["a.svc.cluster.local", "svc.cluster.local", "cluster.local"];
  expect(longestServiceDomain(domains)).toBe("a.svc.cluster.local");
  expect(domainWithSubdomain(domains, "sub")).toBe("sub.a.svc.cluster.local");
  expect(domainWithSubdomain(["sub.a.svc.x"], "sub")).toBe("");
  expect(domainWithSubdomain(domains, "")).toBe("");
  expect(domainWithSubdomain(["x"], "sub")).toBe("");
});
