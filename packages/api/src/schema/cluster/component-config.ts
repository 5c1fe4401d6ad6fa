import { type Affinity, AffinitySchema } from "../core/affinity.ts";
import { type Toleration, TolerationSchema } from "../core/toleration.ts";
import {
  array,
  map,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
  uint8,
  withRules,
} from "../schema.ts";

/** Where Pods may run. */
export interface NodePlacement {
  affinity?: Affinity;
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
}

export const NodePlacementSchema: Schema<NodePlacement> = object<NodePlacement>({
  affinity: AffinitySchema,
  nodeSelector: map(string),
  tolerations: array(TolerationSchema),
});

/** Placement and number of the control plane's Pods, or of the node agents. */
export interface ComponentConfig {
  nodePlacement?: NodePlacement;
  /** For each part of the control plane; ignored for node agents. */
  replicas?: number;
}

export const ComponentConfigSchema: Schema<ComponentConfig> = object<ComponentConfig>({
  nodePlacement: NodePlacementSchema,
  replicas: uint8,
});

/** Command-line flags of the components. */
export interface Flags {
  api?: Record<string, string>;
  controller?: Record<string, string>;
  handler?: Record<string, string>;
}

export const FlagsSchema: Schema<Flags> = object<Flags>({
  api: map(string),
  controller: map(string),
  handler: map(string),
});

/** The format of a patch. */
export type PatchType = OpenEnum<typeof PatchTypeValues>;
export const PatchTypeValues = ["json", "merge", "strategic"] as const;
export const PatchTypeSchema: Schema<PatchType> = openEnum(PatchTypeValues);

/** A patch for one deployed object. */
export interface CustomizeComponentsPatch {
  patch: string;
  /** `*` for all of the type. */
  resourceName: string;
  resourceType: string;
  type: PatchType;
}

export const CustomizeComponentsPatchSchema: Schema<CustomizeComponentsPatch> =
  object<CustomizeComponentsPatch>({
    patch: required(string),
    resourceName: required(withRules(string, { minLength: 1 })),
    resourceType: required(withRules(string, { minLength: 1 })),
    type: required(PatchTypeSchema),
  });

/** Changes to what the operator deploys. */
export interface CustomizeComponents {
  flags?: Flags;
  patches?: CustomizeComponentsPatch[];
}

export const CustomizeComponentsSchema: Schema<CustomizeComponents> = object<CustomizeComponents>({
  flags: FlagsSchema,
  patches: array(CustomizeComponentsPatchSchema, { listType: "atomic" }),
});
