import { names } from "@virtkit/api/names";
import { at, objects } from "@virtkit/api/shape";
import type { KubeObject } from "@virtkit/kube";
import { nodeAgentRules } from "@virtkit/node-agent/service";
import { expect, test } from "vitest";
import { apiServerRules } from "./api-server-rules.ts";
import { controllerRules } from "./controller-rules.ts";
import { manifests } from "./manifests.ts";
import type { Rule } from "./rule.ts";

const image = "registry.example/virtkit:1.0.0";
const all = manifests({ image });
const ofKind = (kind: string): readonly KubeObject[] => all.filter((each) => each.kind === kind);
const containersOf = (object: KubeObject) =>
  objects(at(object, "spec", "template", "spec", "containers"));

test("an installation has two replicas of API server and controllers, and an agent on each node", () => {
  const deployments = ofKind("Deployment");
  expect(deployments.map(({ metadata }) => metadata.name)).toEqual(["virt-api", "virt-controller"]);
  expect(deployments.map((each) => at(each, "spec", "replicas"))).toEqual([2, 2]);
  expect(ofKind("PodDisruptionBudget").map((each) => at(each, "spec", "minAvailable"))).toEqual([
    1, 1,
  ]);
  expect(ofKind("DaemonSet")).toHaveLength(1);
});

test("a single replica does not block evictions", () => {
  const [budget] = manifests({ image, replicas: 1 }).filter(
    ({ kind }) => kind === "PodDisruptionBudget",
  );
  expect(at(budget, "spec", "minAvailable")).toBe(0);
});

test("API server and controllers run without root, without capabilities, on a read-only file system", () => {
  for (const deployment of ofKind("Deployment")) {
    expect(at(deployment, "spec", "template", "spec", "securityContext")).toMatchObject({
      runAsNonRoot: true,
    });
    for (const container of containersOf(deployment)) {
      expect(container["securityContext"]).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  }
});

test("the namespace allows the privileged Pods of the node agents, also in a cluster that allows less by default", () => {
  const [namespace] = manifests({ image, namespace: "vms" });
  expect(namespace).toMatchObject({ kind: "Namespace", metadata: { name: "vms" } });
  expect(namespace?.metadata.labels).toMatchObject({
    "pod-security.kubernetes.io/enforce": "privileged",
  });
});

test("a component that starts slowly is not killed for that", () => {
  for (const object of [...ofKind("Deployment"), ...ofKind("DaemonSet")]) {
    for (const { startupProbe, livenessProbe } of containersOf(object)) {
      expect(startupProbe).toMatchObject({ periodSeconds: 1, failureThreshold: 180 });
      expect(at(startupProbe, "httpGet")).toEqual(at(livenessProbe, "httpGet"));
    }
  }
});

test("components run from a working tree, and restart when it changes, if one is given; otherwise from the image", () => {
  const programs = [...ofKind("Deployment"), ...ofKind("DaemonSet")];
  for (const object of programs) {
    const [container] = containersOf(object);
    expect(container?.["command"]).not.toContain("--watch");
    expect(JSON.stringify(object)).not.toContain("working-tree");
  }
  const workingTree = "/src/virtkit";
  const edited = manifests({ image, workingTree, programs: `${workingTree}/examples/operator` });
  const kinds = ["Deployment", "DaemonSet"];
  const changed = edited.filter(({ kind = "" }) => kinds.includes(kind));
  expect(changed).toHaveLength(3);
  for (const object of changed) {
    const [container] = containersOf(object);
    const file = `${workingTree}/examples/operator/${object.metadata.name}.mjs`;
    expect(container?.["command"]).toEqual(expect.arrayContaining(["node", "--watch", file]));
    const mount = { name: "working-tree", mountPath: workingTree, readOnly: true };
    expect(container?.["volumeMounts"]).toContainEqual(mount);
    expect(at(object, "spec", "template", "spec", "volumes")).toContainEqual({
      name: "working-tree",
      hostPath: { path: workingTree, type: "Directory" },
    });
  }
});

test("CA bundles are left to the API server of VMs, so that applying again does not remove them", () => {
  expect(JSON.stringify(all)).not.toContain("caBundle");
});

test("what is called exists before its callers: definitions, accounts, webhooks, then programs", () => {
  const first = (kind: string): number => all.findIndex((each) => each.kind === kind);
  const order = [
    ...["Namespace", "CustomResourceDefinition", "ServiceAccount", "KubeVirt"],
    ...["MutatingWebhookConfiguration", "APIService", "Deployment", "DaemonSet"],
  ].map(first);
  expect(order).toEqual([...order].sort((one, other) => one - other));
  expect(order).not.toContain(-1);
});

test("each object exists once, and namespaced objects are in the installation's namespace", () => {
  const elsewhere = manifests({ image, namespace: "vms" });
  const keys = elsewhere.map(
    ({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`,
  );
  expect(new Set(keys).size).toBe(keys.length);
  const places = new Set(elsewhere.map(({ metadata }) => metadata.namespace));
  // The permission to read the front proxy's identity is granted where that is published.
  expect(places).toEqual(new Set([undefined, "vms", "kube-system"]));
});

/** Whether rules of a ClusterRole allow it, as Kubernetes reads them. */
function allows(rules: readonly Rule[], verb: string, group: string, resource: string): boolean {
  const has = (list: readonly string[], value: string): boolean =>
    list.includes("*") || list.includes(value);
  return rules.some(
    (rule) =>
      has(rule.apiGroups, group) &&
      has(rule.resources, resource) &&
      has(rule.verbs, verb) &&
      rule.resourceNames === undefined,
  );
}

const roles = {
  "virt-api": apiServerRules(names()),
  "virt-controller": controllerRules(names()),
  "virt-handler": nodeAgentRules(names()),
};

test("no component may read Secrets of others, change roles, or impersonate", () => {
  for (const [component, rules] of Object.entries(roles)) {
    const may = (verb: string, group: string, resource: string): boolean =>
      allows(rules, verb, group, resource);
    for (const verb of ["get", "list", "watch"]) {
      expect(may(verb, "", "secrets"), `${component} ${verb} secrets`).toBe(false);
    }
    expect(may("create", "rbac.authorization.k8s.io", "clusterrolebindings"), component).toBe(
      false,
    );
    expect(may("impersonate", "", "users"), component).toBe(false);
    expect(may("create", "", "pods/exec"), component).toBe(false);
    expect(JSON.stringify(rules), component).not.toContain('"*"');
  }
  // The same question is answered with yes where it should be.
  expect(allows(roles["virt-controller"], "create", "", "pods")).toBe(true);
});

test.each([
  ["virt-api", "patch", "kubevirt.io", "virtualmachines"],
  ["virt-api", "create", "authorization.k8s.io", "subjectaccessreviews"],
  ["virt-controller", "delete", "", "pods"],
  ["virt-controller", "create", "kubevirt.io", "virtualmachineinstances"],
  ["virt-controller", "patch", "pool.kubevirt.io", "virtualmachinepools/status"],
  ["virt-handler", "patch", "kubevirt.io", "virtualmachineinstances"],
  ["virt-handler", "create", "", "events"],
] as const)("%s may %s %s/%s: its work needs it", (component, verb, group, resource) => {
  expect(allows(roles[component], verb, group, resource)).toBe(true);
});

test.each([
  ["virt-api", "delete", "kubevirt.io", "virtualmachineinstances"],
  ["virt-api", "create", "", "pods"],
  ["virt-api", "patch", "", "nodes"],
  ["virt-controller", "patch", "kubevirt.io", "kubevirts"],
  ["virt-controller", "patch", "admissionregistration.k8s.io", "validatingwebhookconfigurations"],
  ["virt-handler", "delete", "", "pods"],
  ["virt-handler", "patch", "kubevirt.io", "virtualmachines"],
  ["virt-handler", "list", "", "nodes"],
] as const)("%s may not %s %s/%s", (component, verb, group, resource) => {
  expect(allows(roles[component], verb, group, resource)).toBe(false);
});

test("only the controllers create Pods, and an agent deletes nothing", () => {
  expect(allows(roles["virt-api"], "create", "", "pods")).toBe(false);
  expect(allows(roles["virt-handler"], "create", "", "pods")).toBe(false);
  expect(roles["virt-handler"].some(({ verbs }) => verbs.includes("delete"))).toBe(false);
});

test("the API server of VMs may only change webhooks and APIServices with its own names", () => {
  const groups = ["apiregistration.k8s.io", "admissionregistration.k8s.io"];
  const named = roles["virt-api"].filter(({ apiGroups }) =>
    apiGroups.some((group) => groups.includes(group)),
  );
  expect(named).toHaveLength(3);
  for (const { resourceNames = [] } of named) expect(resourceNames.length).toBeGreaterThan(0);
});
