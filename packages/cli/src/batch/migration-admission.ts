import type { EvictedPod, EvictionRequest } from "@virtkit/api/admission";
import { admitMigrationPolicy, admitPodEviction, evictionDecision } from "@virtkit/api/admission";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { admissionAnswer } from "./admission.ts";
import type { BatchFunction } from "./batch-area.ts";
import { contextConfig, namedObject, requestContext } from "./request-context.ts";

/** The functions of area `migration` that belong to admission. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  migrationPolicyAdmission: (input, given) => {
    const request = Object(input) as { object: unknown; oldObject?: unknown };
    return admissionAnswer(admitMigrationPolicy(request, contextConfig(requestContext(given))));
  },

  podEviction: (input, given) => {
    const context = requestContext(given);
    const { namespace = "", name = "", object } = Object(input) as Partial<EvictionRequest>;
    const request = { namespace, name, object, dryRun: context.dryRun ?? false };
    const { response, patch } = admitPodEviction(request, contextConfig(context), {
      pod: (namespace, name) =>
        namedObject(context, "pods", { namespace, name }) as EvictedPod | undefined,
      virtualMachineInstance: (namespace, name) =>
        namedObject(context, "virtualMachineInstances", { namespace, name }) as
          | VirtualMachineInstance
          | undefined,
    });
    const answer = admissionAnswer(response);
    return patch ? { ...answer, vmiPatches: [patch.operations] } : answer;
  },

  evictionDecision: (input, given) => {
    const { vmi } = Object(input) as { vmi?: VirtualMachineInstance };
    const machine = Object(vmi) as VirtualMachineInstance;
    return evictionDecision(machine, contextConfig(requestContext(given)));
  },
};
