import type { ClusterConfig } from "../config/index.ts";
import { amountOf } from "../resource-amount.ts";
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceSchema,
  VirtualMachineInstanceSpecSchema,
} from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Admission, judge, refuseShape } from "./admission.ts";
import type { AdmissionRequest } from "./admission-request.ts";
import { type Cause, fine, invalid, notSupported } from "./cause.ts";
import { decodeStored } from "./decode.ts";
import { decodeInstance } from "./decode-virtual-machine.ts";
import { hotpluggedStorage } from "./hotplugged-storage.ts";
import { reserved } from "./metadata.ts";
import { semanticallyEqual } from "./semantic-equality.ts";
import type { ServiceAccounts } from "./service-accounts.ts";
import { utilityVolumes } from "./utility-volumes.ts";

const nodeNameExtra = "authentication.kubernetes.io/node-name";

/** A VirtualMachineInstance, its previous form, and who changes it. */
interface Change {
  readonly now: VirtualMachineInstance;
  readonly old: VirtualMachineInstance;
  readonly request: AdmissionRequest;
  readonly config: ClusterConfig;
  readonly accounts: ServiceAccounts;
}

type ChangeRule = (change: Change) => readonly Cause[];

/** Judges a change of a VirtualMachineInstance; the first broken rule is reported. */
export function admitInstanceUpdate(
  request: AdmissionRequest,
  config: ClusterConfig,
  accounts: ServiceAccounts,
): Admission {
  const now = decodeInstance(request.object);
  if (!now.ok) return refuseShape(now);
  const old = decodeStored(VirtualMachineInstanceSchema, request.oldObject);
  if (!old.ok) return refuseShape(old);
  const change = { now: now.object, old: old.object, request, config, accounts };
  for (const rule of [nodeRestriction, specChange, reservedLabels]) {
    const causes = rule(change);
    if (causes.length > 0) return judge(causes);
  }
  return judge(fine);
}

/** A node's agent may change the VMIs of its own node, and those that are moving to it. */
const nodeRestriction: ChangeRule = ({ now, old, request, config, accounts }) => {
  if (!config.gate("NodeRestriction") || !accounts.isHandler(request.username)) return fine;
  const node = request.userExtra?.[nodeNameExtra]?.[0];
  if (!isSet(node)) {
    return invalid(
      undefined,
      `status cannot be changed by ${request.username}, whose token does not name a node; bind the token to a node`,
    );
  }
  const target = old.status?.migrationState?.targetNode ?? "";
  if (node !== (old.status?.nodeName ?? "") && (target === "" || node !== target)) {
    return invalid(undefined, `status.nodeName is not ${node}, whose agent may not change the VMI`);
  }
  const wanted = now.status?.migrationState?.targetNode ?? "";
  if (target !== "" || wanted === "") return fine;
  return invalid(
    undefined,
    `status.migrationState.targetNode is set by the controller, not by the agent of ${node}`,
  );
};

/** The spec belongs to KubeVirt once the VMI exists. */
const specChange: ChangeRule = (change) => {
  const { now, old, request, accounts } = change;
  if (semanticallyEqual(VirtualMachineInstanceSpecSchema, now.spec, old.spec)) return fine;
  if (!accounts.isKubeVirt(request.username)) {
    return notSupported(
      undefined,
      "spec of a VirtualMachineInstance cannot be changed; change the VirtualMachine that owns it",
    );
  }
  for (const rule of hotplugRules) {
    const causes = rule(change);
    if (causes.length > 0) return causes;
  }
  return fine;
};

const maxSockets: ChangeRule = ({ now, old }) =>
  (now.spec.domain.cpu?.maxSockets ?? 0) === (old.spec.domain.cpu?.maxSockets ?? 0)
    ? fine
    : invalid(undefined, "spec.domain.cpu.maxSockets cannot change while the guest runs");

const maxGuest: ChangeRule = ({ now, old }) => {
  const after = now.spec.domain.memory?.maxGuest;
  const before = old.spec.domain.memory?.maxGuest;
  if (!isSet(after) || !isSet(before) || amountOf(after).equals(amountOf(before))) return fine;
  return invalid(undefined, "spec.domain.memory.maxGuest cannot change while the guest runs");
};

const hotplugRules: readonly ChangeRule[] = [
  maxSockets,
  maxGuest,
  utilityVolumes,
  hotpluggedStorage,
];

/** Only KubeVirt may change the labels that it uses internally. */
const reservedLabels: ChangeRule = ({ now, old, request, config, accounts }) => {
  if (accounts.isKubeVirt(request.username)) return fine;
  const after = reserved(now.metadata, config.names);
  const before = reserved(old.metadata, config.names);
  const changed = [...Object.keys(after), ...Object.keys(before)].find(
    (key) => after[key] !== before[key],
  );
  if (!changed) return fine;
  return notSupported(undefined, `metadata.labels changes ${changed}, which KubeVirt sets`);
};
