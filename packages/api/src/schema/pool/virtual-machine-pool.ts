import { type NodeSelectorRequirement, NodeSelectorRequirementSchema } from "../core/affinity.ts";
import { type LabelSelector, LabelSelectorSchema } from "../core/label-selector.ts";
import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import { type Duration, DurationSchema } from "../duration.ts";
import { type IntOrString, IntOrStringSchema } from "../int-or-string.ts";
import {
  type VirtualMachineInstanceReplicaSetStatus,
  VirtualMachineInstanceReplicaSetStatusSchema,
} from "../replicaset/virtual-machine-instance-replica-set.ts";
import {
  array,
  boolean,
  type Empty,
  int32,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  uint32,
  withRules,
} from "../schema.ts";
import {
  type VirtualMachineSpec,
  VirtualMachineSpecSchema,
} from "../virtual-machine/virtual-machine.ts";

const sortPolicies = ["AscendingOrder", "DescendingOrder", "Newest", "Oldest", "Random"] as const;
const statePreservations = ["Disabled", "Offline", "Online"] as const;

/** Which VMs to pick; if both are set, VMs must match both. */
interface Selectors {
  labelSelector?: LabelSelector;
  nodeSelectorRequirementMatcher?: NodeSelectorRequirement[];
}

/** The order in which VMs are picked for scaling in and for updates. */
interface SelectionPolicy {
  selectors?: Selectors;
  sortPolicy?: OpenEnum<typeof sortPolicies>;
}

const SelectionPolicySchema: Schema<SelectionPolicy> = object<SelectionPolicy>({
  selectors: object<Selectors>({
    labelSelector: LabelSelectorSchema,
    nodeSelectorRequirementMatcher: array(NodeSelectorRequirementSchema),
  }),
  sortPolicy: withRules(openEnum(sortPolicies), { closed: true }),
});

/** What happens to the volumes of a deleted VM. */
interface Preserving {
  statePreservation?: OpenEnum<typeof statePreservations>;
}

const preserving = {
  statePreservation: withRules(openEnum(statePreservations), { closed: true }),
};

/** How to pick VMs, and what happens to their volumes. */
interface ProactiveScaleIn extends Preserving {
  selectionPolicy?: SelectionPolicy;
}

/** What happens to surplus VMs; one of them is set. */
interface ScaleInStrategy {
  opportunistic?: Preserving;
  proactive?: ProactiveScaleIn;
  unmanaged?: Empty;
}

const ScaleInStrategySchema: Schema<ScaleInStrategy> = object<ScaleInStrategy>({
  opportunistic: object<Preserving>(preserving),
  proactive: object<ProactiveScaleIn>({ selectionPolicy: SelectionPolicySchema, ...preserving }),
  unmanaged: object<Empty>({}),
});

/** How to pick VMs. */
interface ProactiveUpdate {
  selectionPolicy?: SelectionPolicy;
}

/** What happens when the template changes; one of them is set. */
interface UpdateStrategy {
  opportunistic?: Empty;
  proactive?: ProactiveUpdate;
  unmanaged?: Empty;
}

const UpdateStrategySchema: Schema<UpdateStrategy> = object<UpdateStrategy>({
  opportunistic: object<Empty>({}),
  proactive: object<ProactiveUpdate>({ selectionPolicy: SelectionPolicySchema }),
  unmanaged: object<Empty>({}),
});

/** When a VM that does not start is replaced. */
interface Autohealing {
  /** 5 minutes if absent. */
  minFailingToStartDuration?: Duration;
  /** 3 if absent. */
  startUpFailureThreshold?: number;
}

/** What the VMs of a pool do not share: they get their own ConfigMaps and Secrets, by number. */
interface NameGeneration {
  appendIndexToConfigMapRefs?: boolean;
  appendIndexToSecretRefs?: boolean;
}

/** The template for VMs. */
interface VirtualMachineTemplate {
  metadata?: ObjectMeta;
  spec?: VirtualMachineSpec;
}

/** How many VMs, from which template, and how they are replaced. */
export interface VirtualMachinePoolSpec {
  autohealing?: Autohealing;
  /** How many VMs may be unavailable during an update, as a number or a percentage; all if absent. */
  maxUnavailable?: IntOrString;
  nameGeneration?: NameGeneration;
  /** Nothing is created or deleted while this is set. */
  paused?: boolean;
  /** 1 if absent. */
  replicas?: number;
  scaleInStrategy?: ScaleInStrategy;
  selector: LabelSelector;
  updateStrategy?: UpdateStrategy;
  virtualMachineTemplate: VirtualMachineTemplate;
}

const VirtualMachinePoolSpecSchema: Schema<VirtualMachinePoolSpec> = object<VirtualMachinePoolSpec>(
  {
    autohealing: object<Autohealing>({
      minFailingToStartDuration: DurationSchema,
      startUpFailureThreshold: withRules(uint32, { minimum: 1 }),
    }),
    maxUnavailable: IntOrStringSchema,
    nameGeneration: object<NameGeneration>({
      appendIndexToConfigMapRefs: boolean,
      appendIndexToSecretRefs: boolean,
    }),
    paused: boolean,
    replicas: withRules(int32, { minimum: 0 }),
    scaleInStrategy: ScaleInStrategySchema,
    selector: required(LabelSelectorSchema),
    updateStrategy: UpdateStrategySchema,
    virtualMachineTemplate: required(
      object<VirtualMachineTemplate>({
        metadata: ObjectMetaSchema,
        spec: VirtualMachineSpecSchema,
      }),
    ),
  },
);

/** Maintains a number of numbered VMs that are created from one template. */
export interface VirtualMachinePool {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VirtualMachinePoolSpec;
  /** As in a replica set. */
  status?: VirtualMachineInstanceReplicaSetStatus;
}

export const VirtualMachinePoolSchema: Schema<VirtualMachinePool> = object<VirtualMachinePool>({
  apiVersion: string,
  kind: string,
  metadata: ObjectMetaSchema,
  spec: required(VirtualMachinePoolSpecSchema),
  status: VirtualMachineInstanceReplicaSetStatusSchema,
});
