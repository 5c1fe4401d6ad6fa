import { part } from "../explain.ts";
import type { Step } from "../pod-draft.ts";
import { foreignNames } from "../well-known.ts";
import { hostnameOf } from "./hostname.ts";
import { vmiIdentifier } from "./vmi-identifier.ts";

/** Labels by which services, policies and controllers find the Pod: the VMI's, and its identity. */
export const podLabels: Step = (request, { labels: own }) => {
  const { explain, names } = request;
  const { labels } = names;
  const set = (key: string, value: string, from: string, because: string): void => {
    own[key] = value;
    explain?.(part.label(key), from, because);
  };
  for (const key of Object.keys(request.labels)) {
    set(
      key,
      request.labels[key] ?? "",
      "vmi.metadata.labels",
      "the Pod gets the labels of the VMI",
    );
  }
  set(labels.app, "virt-launcher", "rule", "what kind of Pod it is");
  set(labels.createdBy, request.uid, "vmi.metadata.uid", "whose Pod it is");
  set(labels.vmName, hostnameOf(request), "vmi.spec.hostname", "the guest's host name");
  set(labels.vmiId, vmiIdentifier(request.name), "vmi.metadata.name", "short enough for a label");
  const inject = request.annotations[foreignNames.istioInject];
  if (inject !== undefined) {
    set(foreignNames.istioInject, inject, "vmi.metadata.annotations", "Istio reads it as a label");
  }
};
