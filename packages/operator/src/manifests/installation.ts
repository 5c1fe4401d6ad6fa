import { type Names, names } from "@virtkit/api/names";
import type { KubeVirtConfiguration } from "@virtkit/api/schema";

/** What an installation is made of. Everything except the image has a default. */
export interface Installation {
  /** The image with all components. */
  readonly image: string;
  /** Default `IfNotPresent`. */
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  /** Default `kubevirt`. */
  readonly namespace?: string;
  /** Of the API server and of the controllers. Default 2. */
  readonly replicas?: number;
  /** `spec.configuration` of the KubeVirt object. */
  readonly configuration?: KubeVirtConfiguration;
  /** The platform's names for its groups and labels. Default: KubeVirt's. */
  readonly names?: Names;
  /** A directory on each node where its agent keeps persistent state. Default `/var/lib/virtkit`. */
  readonly stateDirectory?: string;
  /** The nodes that run guests, by labels. Default: all that run Linux. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Where the components' programs are in the image, or in the {@link workingTree}. */
  readonly programs?: string;
  /**
   * A directory on each node from which components run instead of the image; they restart whenever a loaded
   * file changes. For developing them. Default: none
   */
  readonly workingTree?: string;
}

/** An {@link Installation} with all defaults filled in. */
export type DecidedInstallation = Required<Installation>;

/** Fills in the defaults. */
export function decided(installation: Installation): DecidedInstallation {
  return {
    imagePullPolicy: "IfNotPresent",
    namespace: "kubevirt",
    replicas: 2,
    configuration: {},
    names: names(),
    stateDirectory: "/var/lib/virtkit",
    nodeSelector: { "kubernetes.io/os": "linux" },
    programs: "/usr/lib/node_modules/@virtkit/example-operator",
    workingTree: "",
    ...installation,
  };
}
