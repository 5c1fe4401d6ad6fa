/** What a webhook does with a review. */
export type WebhookMode = "mutate" | "validate";

/**
 * The paths of the webhooks: KubeVirt's, and `/node-validate` for what agents write to Nodes. An object is judged
 * by its resource, not by the path.
 */
export const webhookPaths: Readonly<Record<string, WebhookMode>> = {
  "/virtualmachines-mutate": "mutate",
  "/virtualmachineinstances-mutate": "mutate",
  "/migration-mutate-create": "mutate",
  "/virtualmachines-validate": "validate",
  "/virtualmachineinstances-validate-create": "validate",
  "/virtualmachineinstances-validate-update": "validate",
  "/virtualmachinereplicaset-validate": "validate",
  "/virtualmachinepool-validate": "validate",
  "/migration-validate-create": "validate",
  "/migration-validate-update": "validate",
  "/migration-policy-validate-create": "validate",
  "/virtualmachineinstancetypes-validate": "validate",
  "/virtualmachineclusterinstancetypes-validate": "validate",
  "/virtualmachinepreferences-validate": "validate",
  "/virtualmachineclusterpreferences-validate": "validate",
  "/pod-eviction-validate": "validate",
  "/status-validate": "validate",
  "/node-validate": "validate",
};

/** What the webhook at a path does; `undefined` if there is none. */
export function webhookAt(path: string): WebhookMode | undefined {
  return Object.hasOwn(webhookPaths, path) ? webhookPaths[path] : undefined;
}
