import type { Names } from "@virtkit/api/names";
import type { KubeObject } from "@virtkit/kube";
import type { WebhookMode } from "./webhook-paths.ts";

/** Where the API server finds the webhooks. */
export interface WebhookTarget {
  /** A Service, or the `url` of a server without a Service. */
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number };
  readonly url?: string;
  /** The CAs of the server's certificate, as PEM. */
  readonly caBundle: string;
}

interface Hook {
  readonly path: string;
  readonly mode: WebhookMode;
  readonly group: (names: Names) => string;
  readonly versions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly ("CREATE" | "UPDATE" | "DELETE")[];
  /** A CEL expression that limits the webhook to writes of such users. */
  readonly of?: { readonly name: string; readonly expression: string };
}

/** The account of node agents in any namespace; the rule itself knows which one counts. */
const nodeAgents = {
  name: "node-agents",
  expression: `request.userInfo.username.matches("^system:serviceaccount:[^:]+:kubevirt-handler$")`,
};

const core = ({ groups }: Names): string => groups.core;
const versions = ["v1", "v1alpha3"];
const both = ["CREATE", "UPDATE"] as const;
const typesOf = (resource: string): Hook => ({
  path: `/${resource}-validate`,
  mode: "validate",
  group: ({ groups }) => groups.instancetype,
  versions: ["v1beta1"],
  resources: [resource],
  operations: both,
});

const hooks: readonly Hook[] = [
  {
    path: "/virtualmachines-mutate",
    mode: "mutate",
    group: core,
    versions,
    resources: ["virtualmachines"],
    operations: both,
  },
  {
    path: "/virtualmachineinstances-mutate",
    mode: "mutate",
    group: core,
    versions,
    resources: ["virtualmachineinstances"],
    operations: both,
  },
  {
    path: "/migration-mutate-create",
    mode: "mutate",
    group: core,
    versions,
    resources: ["virtualmachineinstancemigrations"],
    operations: ["CREATE"],
  },
  {
    path: "/virtualmachineinstances-validate-create",
    mode: "validate",
    group: core,
    versions,
    resources: ["virtualmachineinstances"],
    operations: ["CREATE"],
  },
  {
    path: "/virtualmachineinstances-validate-update",
    mode: "validate",
    group: core,
    versions,
    resources: ["virtualmachineinstances"],
    operations: ["UPDATE"],
  },
  {
    path: "/virtualmachines-validate",
    mode: "validate",
    group: core,
    versions,
    resources: ["virtualmachines"],
    operations: both,
  },
  {
    path: "/virtualmachinereplicaset-validate",
    mode: "validate",
    group: core,
    versions,
    resources: ["virtualmachineinstancereplicasets"],
    operations: both,
  },
  {
    path: "/virtualmachinepool-validate",
    mode: "validate",
    group: ({ groups }) => groups.pool,
    versions: ["v1beta1"],
    resources: ["virtualmachinepools"],
    operations: both,
  },
  {
    path: "/migration-validate-create",
    mode: "validate",
    group: core,
    versions,
    resources: ["virtualmachineinstancemigrations"],
    operations: ["CREATE"],
  },
  {
    path: "/migration-validate-update",
    mode: "validate",
    group: core,
    versions,
    resources: ["virtualmachineinstancemigrations"],
    operations: ["UPDATE"],
  },
  {
    path: "/migration-policy-validate-create",
    mode: "validate",
    group: ({ groups }) => groups.migrations,
    versions: ["v1alpha1"],
    resources: ["migrationpolicies"],
    operations: both,
  },
  typesOf("virtualmachineinstancetypes"),
  typesOf("virtualmachineclusterinstancetypes"),
  typesOf("virtualmachinepreferences"),
  typesOf("virtualmachineclusterpreferences"),
  {
    path: "/pod-eviction-validate",
    mode: "validate",
    group: () => "",
    versions: ["v1"],
    resources: ["pods/eviction"],
    operations: ["CREATE"],
  },
  {
    path: "/status-validate",
    mode: "validate",
    group: core,
    versions,
    resources: [
      "virtualmachines/status",
      "virtualmachineinstancereplicasets/status",
      "virtualmachineinstancemigrations/status",
    ],
    operations: both,
  },
  {
    path: "/node-validate",
    mode: "validate",
    group: () => "",
    versions: ["v1"],
    resources: ["nodes", "nodes/status"],
    operations: [...both, "DELETE"],
    // Kubelets write Nodes all the time: an unreachable webhook must not stop them.
    of: nodeAgents,
  },
];

/** The name of a kind of webhook, and the objects that register it. */
export interface WebhookConfigurations {
  readonly mutating: KubeObject;
  readonly validating: KubeObject;
}

/**
 * The objects that make an API server call the webhooks for every change they judge, and reject it if the server
 * cannot be reached. Each has 10 seconds.
 */
export function webhookConfigurations(target: WebhookTarget, names: Names): WebhookConfigurations {
  const name = (mode: WebhookMode): string =>
    `virt-api-${mode === "mutate" ? "mutator" : "validator"}`;
  const made = (mode: WebhookMode, kind: string): KubeObject =>
    ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind,
      metadata: { name: name(mode) },
      webhooks: hooks
        .filter((hook) => hook.mode === mode)
        .map((hook) => webhook(hook, target, names)),
    }) as KubeObject;
  return {
    mutating: made("mutate", "MutatingWebhookConfiguration"),
    validating: made("validate", "ValidatingWebhookConfiguration"),
  };
}

function webhook(hook: Hook, target: WebhookTarget, names: Names): object {
  const { service, url, caBundle } = target;
  const clientConfig = service
    ? { service: { port: 443, ...service, path: hook.path } }
    : { url: `${url ?? ""}${hook.path}` };
  return {
    name: `${hook.path.slice(1)}.virt-api.${names.group}`,
    admissionReviewVersions: ["v1"],
    // Only evictions write, and they honour dryRun.
    sideEffects: hook.path === "/pod-eviction-validate" ? "NoneOnDryRun" : "None",
    failurePolicy: "Fail",
    timeoutSeconds: 10,
    matchPolicy: "Equivalent",
    clientConfig: { ...clientConfig, caBundle: Buffer.from(caBundle).toString("base64") },
    rules: [
      {
        apiGroups: [hook.group(names)],
        apiVersions: hook.versions,
        resources: hook.resources,
        operations: hook.operations,
      },
    ],
    ...(hook.of ? { matchConditions: [hook.of] } : {}),
  };
}
