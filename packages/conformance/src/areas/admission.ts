import {
  type Admission,
  type AdmissionLookup,
  type AdmissionRequest,
  admit,
  type Cause,
  instanceCauses,
  isFieldOurs,
} from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { check, VirtualMachineInstanceSchema } from "@virtkit/api/schema";
import { at, objects } from "@virtkit/api/shape";
import type { BatchFunction } from "../batch/batch-area.ts";
import {
  admissionRequest,
  contextConfig,
  namedObject,
  type RequestContext,
  requestContext,
} from "./request-context.ts";

/** A response holds this many causes. */
const mostCauses = 10;

/** The validating webhooks. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  admit: (input, given) => {
    const context = requestContext(given);
    const request = admissionRequest(input, context);
    const config = contextConfig(context);
    const admission = admit(request, config, contextLookup(context));
    return { ...admissionAnswer(admission), ...rulesAlone(request, admission, config) };
  },
};

/** An admission in the shape of recorded responses. */
export function admissionAnswer(admission: Admission): Readonly<Record<string, unknown>> {
  const { allowed, causes, warnings } = admission;
  return {
    allowed,
    ...(admission.allowed ? {} : { code: admission.code, message: admission.message }),
    ...(causes.length > 0 ? { reason: "Invalid" } : {}),
    causes: recorded(causes).slice(0, mostCauses),
    ...(causes.length > mostCauses ? { allCauses: recorded(causes) } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

/** Causes as KubeVirt gives them: some without a field. */
function recorded(causes: readonly Cause[]): readonly Partial<Cause>[] {
  return causes.map((cause) => {
    if (!isFieldOurs(cause)) return cause;
    const { field: _, ...rest } = cause;
    return rest;
  });
}

/** If the schema refuses an object: that it did, and what the rules would have said. */
function rulesAlone(
  { kind, operation, object, username = "" }: AdmissionRequest,
  { causes }: Admission,
  config: ClusterConfig,
): object {
  if (causes.length === 0 || causes.some(({ reason }) => reason)) return {};
  const checked = check(VirtualMachineInstanceSchema, object);
  if (kind !== "VirtualMachineInstance" || operation !== "CREATE" || !checked.valid) {
    return { schemaRejected: true };
  }
  const byKubeVirt = username.startsWith("system:serviceaccount:kubevirt:kubevirt-");
  return {
    schemaRejected: true,
    semanticCauses: recorded(instanceCauses(checked.value, config, byKubeVirt)),
  };
}

function contextLookup(context: RequestContext): AdmissionLookup {
  const migrations = objects<VirtualMachineInstanceMigration>(
    at(context, "objects", "virtualMachineInstanceMigrations"),
  );
  return {
    virtualMachineInstance: (namespace, name) =>
      namedObject(context, "virtualMachineInstances", { namespace, name }) as
        | VirtualMachineInstance
        | undefined,
    migrationsOf: (namespace, vmiName) =>
      migrations.filter(
        ({ metadata }) =>
          metadata?.namespace === namespace &&
          metadata.labels?.["kubevirt.io/vmi-name"] === vmiName,
      ),
  };
}
