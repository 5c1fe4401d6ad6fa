import {
  attribute,
  child,
  type ElementType,
  element,
  leaf,
  numberLeaf,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** What is stored with the domain and means nothing to libvirt. */
export interface DomainMetadata extends Extensible {
  kubevirt: DomainKubevirtMetadata;
}

/** KubeVirt's part of it. */
export interface DomainKubevirtMetadata extends Extensible {
  xmlns: string;
  uid: string;
  graceperiod?: DomainGracePeriod | undefined;
}

/** How long the guest has to shut down, in seconds. */
export interface DomainGracePeriod extends Extensible {
  deletionGracePeriodSeconds: number;
  deletionTimestamp?: string | undefined;
  markedForGracefulShutdown?: string | undefined;
}

export const metadataElement: ElementType<DomainMetadata> = element(() => ({
  kubevirt: required(
    child(
      element<DomainKubevirtMetadata>(() => ({
        xmlns: required(attribute()),
        uid: required(leaf()),
        graceperiod: child(
          element<DomainGracePeriod>(() => ({
            deletionGracePeriodSeconds: required(numberLeaf()),
            deletionTimestamp: leaf(),
            markedForGracefulShutdown: leaf(),
          })),
        ),
      })),
    ),
  ),
}));
