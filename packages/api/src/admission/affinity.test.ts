import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

const nodeTerm = (term: Change): Change => ({
  nodeAffinity: { [required]: { nodeSelectorTerms: [term] } },
});
const label = (requirement: Change): Change =>
  nodeTerm({ matchExpressions: [{ key: "a", ...requirement }] });
const field = (requirement: Change): Change =>
  nodeTerm({ matchFields: [{ key: "metadata.name", operator: "In", ...requirement }] });
const expression = `Invalid spec.nodeAffinity.${required}.nodeSelectorTerms[0].matchExpressions[0]`;
const matchField = `Invalid spec.nodeAffinity.${required}.nodeSelectorTerms[0].matchFields[0]`;

test.each<[Change, string[]]>([
  [
    { nodeAffinity: { [required]: { nodeSelectorTerms: [] } } },
    [`Invalid spec.nodeAffinity.${required}.nodeSelectorTerms`],
  ],
  [label({ operator: "In", values: ["b"] }), []],
  [label({ operator: "In" }), [`${expression}.values`]],
  [label({ operator: "Exists" }), []],
  [label({ operator: "Exists", values: ["b"] }), [`${expression}.values`]],
  [label({ operator: "Gt", values: ["1", "2"] }), [`${expression}.values`]],
  [label({ operator: "Lt", values: ["1"] }), []],
  [label({ operator: "Near" }), ["schema"]],
  [label({}), [`${expression}.operator`]],
  [label({ operator: "Exists", key: "-" }), [`${expression}.key`]],
  [field({ values: ["node-1"] }), []],
  [field({ values: ["a", "b"] }), [`${matchField}.values`]],
  [field({ operator: "Exists", values: [] }), [`${matchField}.operator`]],
  [field({ key: "spec.x", values: ["a"] }), [`${matchField}.key`]],
  [field({ values: ["Node"] }), [`${matchField}.values[0]`]],
  [
    { nodeAffinity: { [preferred]: [{ weight: 0, preference: {} }] } },
    [`Invalid spec.nodeAffinity.${preferred}[0].weight`],
  ],
  [
    {
      nodeAffinity: {
        [preferred]: [
          { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "In" }] } },
        ],
      },
    },
    [`Invalid spec.nodeAffinity.${preferred}[0].preference.matchExpressions[0].values`],
  ],
])("nodes: %j: %j", (affinity, expected) => {
  expect(verdict({ affinity })).toEqual(expected);
});

const term = (change: Change): Change => ({ topologyKey: "kubernetes.io/hostname", ...change });

test.each<[Change, string[]]>([
  [term({}), []],
  [term({ topologyKey: "" }), ["topologyKey", "topologyKey", "topologyKey"]],
  [term({ topologyKey: "a/b/c" }), ["topologyKey"]],
  [term({ namespaces: ["ok", "Not"] }), ["namespace"]],
  [term({ labelSelector: { matchLabels: { a: "b" } } }), []],
  [
    term({ labelSelector: { matchLabels: { "-": "b c" } } }),
    ["labelSelector.matchLabels", "labelSelector.matchLabels"],
  ],
  [
    term({ labelSelector: { matchExpressions: [{ key: "a", operator: "Gt", values: ["!"] }] } }),
    ["labelSelector.matchExpressions[0].operator", "labelSelector.matchExpressions[0].values[0]"],
  ],
  [
    term({ namespaceSelector: { matchExpressions: [{ key: "", operator: "In" }] } }),
    [
      "namespaceSelector.matchExpressions[0].values",
      "namespaceSelector.matchExpressions[0].key",
      "namespaceSelector.matchExpressions[0].key",
    ],
  ],
])("Pods: %j: %j", (change, fields) => {
  for (const kind of ["podAffinity", "podAntiAffinity"]) {
    const hard = fields.map((name) => `Invalid spec.${kind}.${required}[0].${name}`);
    expect(verdict({ affinity: { [kind]: { [required]: [change] } } })).toEqual(hard);
    const soft = fields.map(
      (name) => `Invalid spec.${kind}.${preferred}[0].podAffinityTerm.${name}`,
    );
    const weighted = { weight: 100, podAffinityTerm: change };
    expect(verdict({ affinity: { [kind]: { [preferred]: [weighted] } } })).toEqual(soft);
  }
});

test("the weight of a Pod affinity term is 1 to 100", () => {
  const weighted = { weight: 101, podAffinityTerm: term({}) };
  expect(verdict({ affinity: { podAffinity: { [preferred]: [weighted] } } })).toEqual([
    `Invalid spec.podAffinity.${preferred}[0].weight`,
  ]);
});
