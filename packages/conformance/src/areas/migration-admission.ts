import type { EvictedPod, EvictionLookup, EvictionRequest } from "@virtkit/api/admission";
import { admitMigrationPolicy, admitPodEviction, evictionDecision } from "@virtkit/api/admission";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, objects } from "@virtkit/api/shape";
import type { BatchFunction } from "../batch/batch-area.ts";
import { admissionAnswer } from "./admission.ts";
import { guardVmis } from "./guard-vmis.ts";
import {
  contextConfig,
  namedObject,
  type RequestContext,
  requestContext,
} from "./request-context.ts";

/** The functions of area `migration` that belong to admission. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  migrationPolicyAdmission: (input, given) => {
    const request = Object(input) as { object: unknown; oldObject?: unknown };
    return admissionAnswer(admitMigrationPolicy(request, contextConfig(given)));
  },

  podEviction: (input, given) => {
    const context = requestContext(given);
    const { namespace = "", name = "", object } = Object(input) as Partial<EvictionRequest>;
    const request = { namespace, name, object, dryRun: context.dryRun ?? false };
    const lookup: EvictionLookup = {
      pod: (namespace, name) =>
        namedObject(context, "pods", { namespace, name }) as EvictedPod | undefined,
      virtualMachineInstance: (namespace, name) =>
        namedObject(context, "virtualMachineInstances", { namespace, name }) as
          | VirtualMachineInstance
          | undefined,
    };
    const { response, patch } = guardVmis(vmisIn(context), () =>
      admitPodEviction(request, contextConfig(context), lookup),
    );
    const answer = admissionAnswer(response);
    return patch ? { ...answer, vmiPatches: [patch.operations] } : answer;
  },

  evictionDecision: (input, given) => {
    const { vmi } = Object(input) as { vmi?: VirtualMachineInstance };
    const ofAnyShape = Object(vmi) as VirtualMachineInstance;
    return guardVmis({ "input.vmi": vmi }, () =>
      evictionDecision(ofAnyShape, contextConfig(given)),
    );
  },
};

/** The VMIs of a context's cluster by their place. */
function vmisIn(context: RequestContext): Readonly<Record<string, unknown>> {
  const list = "virtualMachineInstances";
  const vmis = objects<object>(at(context, "objects", list));
  return Object.fromEntries(vmis.map((vmi, index) => [`context.objects.${list}[${index}]`, vmi]));
}
