import { type Affinity, AffinitySchema } from "../core/affinity.ts";
import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import { type PodDNSConfig, PodDNSConfigSchema } from "../core/pod-dns.ts";
import { type Toleration, TolerationSchema } from "../core/toleration.ts";
import {
  type TopologySpreadConstraint,
  TopologySpreadConstraintSchema,
} from "../core/topology-spread.ts";
import { type DomainSpec, DomainSpecSchema } from "../domain/domain.ts";
import {
  array,
  int64,
  map,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  withRules,
} from "../schema.ts";
import {
  type VirtualMachineInstanceStatus,
  VirtualMachineInstanceStatusSchema,
} from "../status/virtual-machine-instance-status.ts";
import { type AccessCredential, AccessCredentialSchema } from "./access-credential.ts";
import { type Network, NetworkSchema } from "./network.ts";
import { type Probe, ProbeSchema } from "./probe.ts";
import {
  type VirtualMachineInstanceResourceClaim,
  VirtualMachineInstanceResourceClaimSchema,
} from "./resource-claim.ts";
import { type UtilityVolume, UtilityVolumeSchema } from "./utility-volume.ts";
import { type Volume, VolumeSchema } from "./volume.ts";

/** Where a Pod's resolver settings come from. */
export type DNSPolicy = OpenEnum<typeof DNSPolicyValues>;
export const DNSPolicyValues = [
  "ClusterFirst",
  "ClusterFirstWithHostNet",
  "Default",
  "None",
] as const;
export const DNSPolicySchema: Schema<DNSPolicy> = openEnum(DNSPolicyValues);

/** What happens to a VMI when its node is drained. */
export type EvictionStrategy = OpenEnum<typeof EvictionStrategyValues>;
export const EvictionStrategyValues = [
  "None",
  "LiveMigrate",
  "LiveMigrateIfPossible",
  "External",
] as const;
export const EvictionStrategySchema: Schema<EvictionStrategy> = openEnum(EvictionStrategyValues);

/** How a VMI starts; normally it just runs. */
export type StartStrategy = OpenEnum<typeof StartStrategyValues>;
export const StartStrategyValues = ["Paused"] as const;
export const StartStrategySchema: Schema<StartStrategy> = openEnum(StartStrategyValues);

/** What to run, and where. */
export interface VirtualMachineInstanceSpec {
  accessCredentials?: AccessCredential[];
  affinity?: Affinity;
  /** `amd64`, `arm64` or `s390x`; the cluster's default if absent. */
  architecture?: string;
  dnsConfig?: PodDNSConfig;
  dnsPolicy?: DNSPolicy;
  domain: DomainSpec;
  /** The cluster's default if absent. */
  evictionStrategy?: EvictionStrategy;
  /** The object's name if absent. */
  hostname?: string;
  /** The VMI is stopped if it fails. */
  livenessProbe?: Probe;
  networks?: Network[];
  nodeSelector?: Record<string, string>;
  priorityClassName?: string;
  /** The VMI is not ready if it fails. */
  readinessProbe?: Probe;
  resourceClaims?: VirtualMachineInstanceResourceClaim[];
  schedulerName?: string;
  serviceAccountName?: string;
  startStrategy?: StartStrategy;
  /** If set, the guest's full name is `hostname.subdomain.namespace.svc.` and the cluster's domain. */
  subdomain?: string;
  /** How long the guest has to shut down; 30 if absent, 0 kills it at once. */
  terminationGracePeriodSeconds?: number;
  tolerations?: Toleration[];
  topologySpreadConstraints?: TopologySpreadConstraint[];
  /** Attached to the Pod, hidden from the guest. */
  utilityVolumes?: UtilityVolume[];
  volumes?: Volume[];
}

export const VirtualMachineInstanceSpecSchema: Schema<VirtualMachineInstanceSpec> =
  object<VirtualMachineInstanceSpec>({
    accessCredentials: withRules(array(AccessCredentialSchema, { listType: "atomic" }), {
      maxItems: 256,
    }),
    affinity: AffinitySchema,
    architecture: string,
    dnsConfig: PodDNSConfigSchema,
    dnsPolicy: DNSPolicySchema,
    domain: required(DomainSpecSchema),
    evictionStrategy: EvictionStrategySchema,
    hostname: string,
    livenessProbe: ProbeSchema,
    networks: withRules(array(NetworkSchema), { maxItems: 256 }),
    nodeSelector: map(string),
    priorityClassName: string,
    readinessProbe: ProbeSchema,
    resourceClaims: array(VirtualMachineInstanceResourceClaimSchema, {
      listType: "map",
      listMapKeys: ["name"],
    }),
    schedulerName: string,
    serviceAccountName: string,
    startStrategy: StartStrategySchema,
    subdomain: string,
    terminationGracePeriodSeconds: int64,
    tolerations: array(TolerationSchema),
    topologySpreadConstraints: array(TopologySpreadConstraintSchema, {
      listType: "map",
      listMapKeys: ["topologyKey", "whenUnsatisfiable"],
    }),
    utilityVolumes: withRules(
      array(UtilityVolumeSchema, { listType: "map", listMapKeys: ["name"] }),
      { maxItems: 256 },
    ),
    volumes: withRules(array(VolumeSchema), { maxItems: 256 }),
  });

/** One boot of one guest: a VM that runs, will run, or has run. */
export interface VirtualMachineInstance {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VirtualMachineInstanceSpec;
  status?: VirtualMachineInstanceStatus;
}

export const VirtualMachineInstanceSchema: Schema<VirtualMachineInstance> =
  object<VirtualMachineInstance>({
    apiVersion: string,
    kind: string,
    metadata: ObjectMetaSchema,
    spec: required(VirtualMachineInstanceSpecSchema),
    status: VirtualMachineInstanceStatusSchema,
  });

/** The template for VMIs. */
export interface VirtualMachineInstanceTemplateSpec {
  metadata?: ObjectMeta;
  spec?: VirtualMachineInstanceSpec;
}

export const VirtualMachineInstanceTemplateSpecSchema: Schema<VirtualMachineInstanceTemplateSpec> =
  object<VirtualMachineInstanceTemplateSpec>({
    metadata: ObjectMetaSchema,
    spec: VirtualMachineInstanceSpecSchema,
  });
