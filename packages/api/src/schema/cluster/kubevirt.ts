import {
  type LocalObjectReference,
  LocalObjectReferenceSchema,
} from "../core/local-object-reference.ts";
import { type ObjectMeta, ObjectMetaSchema } from "../core/object-meta.ts";
import { type PullPolicy, PullPolicySchema } from "../core/pull-policy.ts";
import { type Duration, DurationSchema } from "../duration.ts";
import {
  array,
  int,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";
import {
  type KubeVirtCertificateRotateStrategy,
  KubeVirtCertificateRotateStrategySchema,
} from "./certificate-rotation.ts";
import {
  type ComponentConfig,
  ComponentConfigSchema,
  type CustomizeComponents,
  CustomizeComponentsSchema,
} from "./component-config.ts";
import {
  type KubeVirtConfiguration,
  KubeVirtConfigurationSchema,
} from "./kubevirt-configuration.ts";
import { type KubeVirtStatus, KubeVirtStatusSchema } from "./kubevirt-status.ts";

/** How a VMI is updated to the new version. */
export type WorkloadUpdateMethod = OpenEnum<typeof WorkloadUpdateMethodValues>;
export const WorkloadUpdateMethodValues = ["LiveMigrate", "Evict"] as const;
export const WorkloadUpdateMethodSchema: Schema<WorkloadUpdateMethod> = openEnum(
  WorkloadUpdateMethodValues,
);

/** How running VMIs get a new version of the launcher. */
export interface KubeVirtWorkloadUpdateStrategy {
  /** Time between two batches. */
  batchEvictionInterval?: Duration;
  /** Number of VMIs that are evicted at once. */
  batchEvictionSize?: number;
  /** If absent or empty, VMIs keep their launcher until they restart. */
  workloadUpdateMethods?: WorkloadUpdateMethod[];
}

export const KubeVirtWorkloadUpdateStrategySchema: Schema<KubeVirtWorkloadUpdateStrategy> =
  object<KubeVirtWorkloadUpdateStrategy>({
    batchEvictionInterval: DurationSchema,
    batchEvictionSize: int,
    workloadUpdateMethods: array(WorkloadUpdateMethodSchema, { listType: "atomic" }),
  });

/** What happens to VMIs when the installation is deleted. */
export type KubeVirtUninstallStrategy = OpenEnum<typeof KubeVirtUninstallStrategyValues>;
export const KubeVirtUninstallStrategyValues = [
  "RemoveWorkloads",
  "BlockUninstallIfWorkloadsExist",
] as const;
export const KubeVirtUninstallStrategySchema: Schema<KubeVirtUninstallStrategy> = openEnum(
  KubeVirtUninstallStrategyValues,
);

/** What is installed, and how it is configured. */
export interface KubeVirtSpec {
  certificateRotateStrategy?: KubeVirtCertificateRotateStrategy;
  configuration?: KubeVirtConfiguration;
  customizeComponents?: CustomizeComponents;
  imagePullPolicy?: PullPolicy;
  imagePullSecrets?: LocalObjectReference[];
  imageRegistry?: string;
  /** Version to install; the operator's own if absent. */
  imageTag?: string;
  /** Control plane. */
  infra?: ComponentConfig;
  /** Service account of Prometheus. */
  monitorAccount?: string;
  /** Namespace of Prometheus. */
  monitorNamespace?: string;
  productComponent?: string;
  productName?: string;
  productVersion?: string;
  serviceMonitorNamespace?: string;
  synchronizationPort?: string;
  uninstallStrategy?: KubeVirtUninstallStrategy;
  workloadUpdateStrategy?: KubeVirtWorkloadUpdateStrategy;
  /** Node agents. */
  workloads?: ComponentConfig;
}

export const KubeVirtSpecSchema: Schema<KubeVirtSpec> = object<KubeVirtSpec>({
  certificateRotateStrategy: KubeVirtCertificateRotateStrategySchema,
  configuration: KubeVirtConfigurationSchema,
  customizeComponents: CustomizeComponentsSchema,
  imagePullPolicy: PullPolicySchema,
  imagePullSecrets: array(LocalObjectReferenceSchema, { listType: "atomic" }),
  imageRegistry: string,
  imageTag: string,
  infra: ComponentConfigSchema,
  monitorAccount: string,
  monitorNamespace: string,
  productComponent: string,
  productName: string,
  productVersion: string,
  serviceMonitorNamespace: string,
  synchronizationPort: string,
  uninstallStrategy: KubeVirtUninstallStrategySchema,
  workloadUpdateStrategy: KubeVirtWorkloadUpdateStrategySchema,
  workloads: ComponentConfigSchema,
});

/** An installation of KubeVirt and the configuration of the cluster. */
export interface KubeVirt {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: KubeVirtSpec;
  status?: KubeVirtStatus;
}

export const KubeVirtSchema: Schema<KubeVirt> = object<KubeVirt>({
  apiVersion: string,
  kind: string,
  metadata: ObjectMetaSchema,
  spec: required(KubeVirtSpecSchema),
  status: KubeVirtStatusSchema,
});
