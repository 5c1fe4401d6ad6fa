import type { ClusterConfig } from "../config/index.ts";
import { matchesSelector } from "../match-labels.ts";
import { LabelSelectorSchema } from "../schema/core/label-selector.ts";
import { type VirtualMachine, VirtualMachinePoolSchema } from "../schema/index.ts";
import { type Admission, judge, refuse, refuseShape } from "./admission.ts";
import { argumentProblem } from "./argument-problem.ts";
import { type Cause, fine, invalid, required } from "./cause.ts";
import { decode, decodeStored } from "./decode.ts";
import { labelSelector } from "./label-selector.ts";
import { semanticallyEqual } from "./semantic-equality.ts";
import { type ServiceAccounts, serviceAccounts } from "./service-accounts.ts";
import { machineCauses } from "./virtual-machine.ts";
import { discontinuedFeatures } from "./virtual-machine-instance.ts";

const at = "spec.virtualMachineTemplate";

/**
 * Checks a VirtualMachinePool: its template as a VM, that its selector matches the VMs that it creates, and that
 * the selector does not change, since a pool that selects other VMs would leave its own behind.
 */
export function admitPool(
  request: {
    readonly object: unknown;
    readonly oldObject?: unknown;
    readonly operation: string;
    readonly username?: string | undefined;
  },
  config: ClusterConfig,
  { accounts = serviceAccounts() }: { readonly accounts?: ServiceAccounts } = {},
): Admission {
  const problem = argumentProblem({ request, config });
  if (problem) return refuse(400, problem.message);
  const decoded = decode(VirtualMachinePoolSchema, request.object);
  if (!decoded.ok) return refuseShape(decoded);
  const { selector, virtualMachineTemplate: template } = decoded.object.spec;
  const spec = template?.spec;
  if (!spec?.template?.spec) return judge(required(`${at}.spec.template`, "must describe a VM"));
  const byKubeVirt = accounts.isKubeVirt(request.username);
  const isNew = request.operation === "CREATE";
  const old = isNew ? undefined : decodeStored(VirtualMachinePoolSchema, request.oldObject);
  if (old && !old.ok) return refuseShape(old);
  const malformed = labelSelector(selector, "spec.selector");
  const isFound =
    malformed.length > 0 || matchesSelector(selector, template.metadata?.labels ?? {});
  const isMoved =
    old &&
    !semanticallyEqual(LabelSelectorSchema, old.object.spec.selector, selector, "spec.selector");
  return judge([
    ...inTemplate(machineCauses({ spec: spec as VirtualMachine["spec"] }, { config, byKubeVirt })),
    ...(isNew
      ? discontinuedFeatures(spec.template.spec, `${at}.spec.template.spec`, config)
      : fine),
    ...malformed,
    ...(isFound
      ? fine
      : invalid("spec.selector", `does not match ${at}.metadata.labels; make them agree`)),
    ...(isMoved
      ? invalid("spec.selector", "cannot be changed; create another pool with this selector")
      : fine),
  ]);
}

/** The same causes with paths in the pool; a message begins with its field. */
function inTemplate(causes: readonly Cause[]): readonly Cause[] {
  const inPool = (path: string): string => path.replace(/^spec\b/, `${at}.spec`);
  return causes.map((cause) => ({
    ...cause,
    field: inPool(cause.field),
    message: inPool(cause.message),
  }));
}
