import { expect, test } from "vitest";
import { type Change, type ClusterOptions, domainVerdict } from "../testing/verdict.ts";

const requests = "Invalid spec.domain.resources.requests.memory";
const limits = "Invalid spec.domain.resources.limits.memory";
const stage: ClusterOptions = { configuration: { vmRolloutStrategy: "Stage" } };
const resources = (requested: unknown, limit?: unknown): Change => ({
  resources: {
    requests: requested === undefined ? {} : { memory: requested },
    limits: limit === undefined ? {} : { memory: limit },
  },
});
const huge = (pageSize: string, guest: unknown, rest: Change = {}): Change => ({
  memory: { guest, hugepages: { pageSize } },
  ...rest,
});

test.each<[Change, ClusterOptions, string[]]>([
  [resources("1M"), {}, []],
  [resources("-1Mi"), {}, [requests]],
  [resources("999k"), {}, [requests]],
  [resources(64), {}, [requests]],
  [resources("0"), {}, []],
  [resources(undefined, "-1Mi"), {}, [limits]],
  [resources("2Gi", "1Gi"), {}, [requests]],
  [resources("1Gi", "1Gi"), {}, []],
  [resources("1Gi", "0"), {}, []],
  [huge("2Mi", "1Gi"), {}, []],
  [huge("two", "1Gi"), {}, ["Invalid spec.domain.memory.hugepages.pageSize"]],
  [huge("1Gi", "512Mi"), {}, [requests]],
  [huge("2Mi", "3Mi"), {}, [requests]],
  [huge("2Mi", "3Mi", resources("4Mi")), {}, []],
  [huge("2Mi", undefined, resources(undefined, "3Mi")), {}, [requests]],
  [huge("2Mi", undefined), {}, []],
  [huge("0", "1Gi"), {}, [requests]],
  [{ ...resources(undefined, "1Gi"), memory: { guest: "2Gi" } }, {}, []],
  [
    { ...resources(undefined, "1Gi"), memory: { guest: "2Gi" } },
    stage,
    ["Invalid spec.domain.memory.guest"],
  ],
  [{ ...resources(undefined, "2Gi"), memory: { guest: "2Gi" } }, stage, []],
  [{ memory: undefined }, {}, ["Required"]],
  [{ memory: { guest: undefined } }, {}, ["Required"]],
  [{ memory: undefined, ...resources(undefined, "1Gi") }, {}, ["Required"]],
  [{ memory: undefined, ...resources("1Gi") }, {}, []],
])("%j %j: %j", (domain, options, expected) => {
  expect(domainVerdict(domain, options)).toEqual(expected);
});
