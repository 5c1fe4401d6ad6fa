import type { KubeObject } from "@virtkit/kube";
import { lookupIn, type PersistentVolumeClaim } from "@virtkit/launcher-pod";
import type { ClaimObject, PodObject } from "../cluster-objects.ts";
import type { VmiView } from "../vmi-view.ts";
import type { SmallCluster } from "./small-cluster.ts";

const plural = "persistentvolumeclaims";
const marked = { "storageclass.kubernetes.io/is-default-class": "true" };

/** The claims with the state of a guest's TPM: their storage, and what must be true of them. */
export class GuestState {
  #claimName: string | undefined;

  /** What a view knows about storage. */
  static view(cluster: SmallCluster): Pick<VmiView, "claims" | "lookup" | "storageClasses"> {
    const claims = cluster.all<ClaimObject>(plural);
    const found = claims as readonly PersistentVolumeClaim[];
    return {
      claims,
      storageClasses: [{ metadata: { name: "fast", annotations: marked } }],
      lookup: lookupIn({ persistentVolumeClaims: found }),
    };
  }

  /** The storage binds every claim. */
  bind(cluster: SmallCluster): void {
    for (const { metadata } of cluster.all<KubeObject>(plural)) {
      cluster.change<ClaimObject>(plural, String(metadata.name), (claim) => ({
        ...claim,
        status: { phase: "Bound" },
      }));
    }
  }

  /** What is wrong: a guest's state is in one claim, and every Pod of the guest uses that one. */
  look(cluster: SmallCluster): string | undefined {
    const count = cluster.all(plural).length;
    if (count > 1) return `${count} claims are there for one guest's state`;
    for (const { spec } of cluster.all<PodObject>("pods")) {
      const volume = spec?.volumes?.find(({ name }) => name === "vm-state");
      const used = volume?.persistentVolumeClaim?.claimName;
      this.#claimName ??= used;
      if (used !== this.#claimName) return `a Pod uses ${used} instead of ${this.#claimName}`;
    }
    return undefined;
  }
}
