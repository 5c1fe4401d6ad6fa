import { expect, test } from "vitest";
import { type Change, type ClusterOptions, domainVerdict } from "../testing/verdict.ts";

test.each<[Change, ClusterOptions, string[]]>([
  [{ ioThreadsPolicy: "auto" }, {}, []],
  [{ ioThreadsPolicy: "many" }, {}, ["Invalid spec.domain.ioThreadsPolicy"]],
  [{ ioThreadsPolicy: "supplementalPool" }, {}, ["Invalid spec.domain.ioThreads.count"]],
  [
    { ioThreadsPolicy: "supplementalPool", ioThreads: { supplementalPoolThreadCount: 0 } },
    {},
    ["Invalid spec.domain.ioThreads.count"],
  ],
  [{ ioThreadsPolicy: "supplementalPool", ioThreads: { supplementalPoolThreadCount: 1 } }, {}, []],
])("%j %j: %j", (domain, options, expected) => {
  expect(domainVerdict(domain, options)).toEqual(expected);
});
