import {
  applyInstancetype,
  type InstancetypeConflict,
  type Labelled,
  type MatcherFault,
  type MatcherLookup,
  matcherAnnotations,
  settleMatchers,
  spreadProblem,
  unmetRequirement,
} from "@virtkit/api/instancetype";
import {
  type VirtualMachine,
  type VirtualMachineInstanceSpec,
  VirtualMachineInstanceSpecSchema,
  type VirtualMachineInstancetypeSpec,
  VirtualMachineInstancetypeSpecSchema,
  type VirtualMachinePreferenceSpec,
  VirtualMachinePreferenceSpecSchema,
  VirtualMachineSchema,
  VirtualMachineSpecSchema,
} from "@virtkit/api/schema";
import { at, objects } from "@virtkit/api/shape";
import type { BatchFunction } from "../batch/batch-area.ts";
import { AnswerError } from "./answer-error.ts";
import { readAsGo, writeAsGo } from "./go-form.ts";
import { contextConfig } from "./request-context.ts";

interface InstancetypeInput {
  readonly spec: VirtualMachineInstanceSpec;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly instancetype: VirtualMachineInstancetypeSpec | undefined;
  readonly preference: VirtualMachinePreferenceSpec | undefined;
}

/** The functions of area `instancetype`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  applyToVMI: (input) => {
    const result = applyInstancetype(read(input));
    switch (result.kind) {
      case "applied":
        return {
          spec: writeAsGo(result.spec, VirtualMachineInstanceSpecSchema),
          annotations: result.annotations ?? null,
        };
      case "conflicts":
        return { conflicts: result.conflicts };
      case "invalid":
        throw unanswered(result.problem);
    }
  },

  checkRequirements: (input) => {
    const { instancetype, preference, spec } = read(input);
    const unmet = unmetRequirement(instancetype, preference, spec);
    return unmet ? { ok: false, error: unmet.message, fields: unmet.fields } : { ok: true };
  },

  checkSpreadTopology: (input) => {
    const { instancetype, preference } = read(input);
    const problem = spreadProblem(instancetype, preference);
    if (problem?.kind === "zero-ratio") throw unanswered(problem.conflict);
    return problem ? { ok: false, ...problem.conflict } : { ok: true };
  },

  matcherAnnotations: (input, context) => ({
    annotations: matcherAnnotations(vmOf(input, "vm"), contextConfig(context)) ?? null,
  }),

  mutateVM: (input, context) => {
    const before = at(input, "oldVm") ? vmOf(input, "oldVm") : undefined;
    const result = settleMatchers(
      vmOf(input, "vm"),
      before,
      lookupIn(context),
      contextConfig(context),
    );
    switch (result.kind) {
      case "settled":
        return { allowed: true, spec: writeAsGo(result.vm.spec, VirtualMachineSpecSchema) };
      case "faults":
        return rejected(result.faults);
      case "not-inferred":
        return { allowed: false, code: 400, message: result.message };
    }
  },
};

function unanswered({ field, message }: InstancetypeConflict): AnswerError {
  return new AnswerError({ path: field, message });
}

function read(input: unknown): InstancetypeInput {
  const instancetype = at(input, "instancetypeSpec");
  const preference = at(input, "preferenceSpec");
  return {
    spec: readAsGo(
      at(input, "vmiSpec") ?? {},
      VirtualMachineInstanceSpecSchema,
    ) as VirtualMachineInstanceSpec,
    annotations: at(input, "vmiMetadata", "annotations") as Record<string, string> | undefined,
    instancetype: readAsGo(instancetype, VirtualMachineInstancetypeSpecSchema) as
      | VirtualMachineInstancetypeSpec
      | undefined,
    preference: readAsGo(preference, VirtualMachinePreferenceSpecSchema) as
      | VirtualMachinePreferenceSpec
      | undefined,
  };
}

function vmOf(input: unknown, name: string): VirtualMachine {
  return readAsGo(at(input, name) ?? {}, VirtualMachineSchema) as VirtualMachine;
}

/** KubeVirt reports at most ten causes. */
function rejected(faults: readonly MatcherFault[]): unknown {
  const causes = faults.slice(0, 10);
  const message = causes.map((cause) => cause.message).join(", ");
  return { allowed: false, code: 422, message, causes };
}

function lookupIn(context: unknown): MatcherLookup {
  const find = (list: string, namespace: string | undefined, name: string): Labelled | undefined =>
    objects<Labelled>(at(context, list)).find(
      (item) =>
        at(item, "metadata", "name") === name &&
        (namespace === undefined || at(item, "metadata", "namespace") === namespace),
    );
  const preference = (found: Labelled | undefined): VirtualMachinePreferenceSpec | undefined =>
    found && ((found.spec ?? {}) as VirtualMachinePreferenceSpec);
  return {
    claim: (namespace, name) => find("persistentVolumeClaims", namespace, name),
    dataVolume: (namespace, name) => find("dataVolumes", namespace, name),
    dataSource: (namespace, name) => find("dataSources", namespace, name),
    snapshot: (namespace, name) => find("volumeSnapshots", namespace, name),
    preference: (namespace, name) => preference(find("preferences", namespace, name)),
    clusterPreference: (name) => preference(find("clusterPreferences", undefined, name)),
    preferenceRevision: () => undefined,
  };
}
