import type { Clock } from "@virtkit/api/clock";
import {
  decide,
  decodeGrant,
  encodeGrant,
  grantAnnotation,
  type Holder,
  type ProofOfEnd,
  type ReadGrant,
} from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import type { Random } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { entry, text } from "@virtkit/api/shape";
import { MayRun } from "@virtkit/domain-manager";
import {
  isConflict,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
} from "@virtkit/kube";
import {
  type AnnotatedObject,
  type AnnotationClient,
  AnnotationGrantStore,
} from "../claims/annotation-grant-store.ts";
import type { Effects } from "./seams.ts";
import type { VersionMark } from "./version-mark.ts";

/** A VMI's grant in an object that was read. */
export function grantOf(vmi: VirtualMachineInstance, names: Names): ReadGrant {
  const value = entry(vmi.metadata?.annotations, names.own(grantAnnotation));
  return decodeGrant(value, text(vmi.metadata?.uid));
}

/** Why a holder may not run a VMI; undefined if it may. */
export function grantObstacle(grant: ReadGrant, holder: Holder): string | undefined {
  const verdict = decide(grant, { kind: "claim", holder });
  if (!("refused" in verdict)) return undefined;
  const { reason, whatAPersonMustCheck: advice } = verdict;
  return `the run grant: ${reason}${advice ? `; ${advice}` : ""}`;
}

/** The annotation of an ended grant, if a proof permits it and it has not ended; else undefined. */
export function endedGrant(
  vmi: VirtualMachineInstance,
  proofs: readonly ProofOfEnd[],
  names: Names,
): Readonly<Record<string, string>> | undefined {
  const grant = grantOf(vmi, names);
  // This node may end only a claim.
  if (grant.state !== "Claimed") return undefined;
  const verdict = decide(grant, { kind: "end", vmiUID: text(vmi.metadata?.uid), proofs });
  if ("refused" in verdict) return undefined;
  return { [names.own(grantAnnotation)]: encodeGrant(verdict.grant) };
}

/** What {@link claimGrant} works with. */
export interface ClaimContext {
  readonly client: KubeClient;
  readonly vmis: Resource;
  readonly names: Names;
  readonly effects: Effects;
  readonly mark: VersionMark;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** Claims the grant of a VMI, or gets the claim again. Rejects if the rules refuse it. */
export async function claimGrant(
  { metadata }: VirtualMachineInstance,
  holder: Holder,
  { client, vmis, names, effects, mark, clock, random, signal }: ClaimContext,
): Promise<MayRun> {
  const place = { namespace: text(metadata?.namespace), name: text(metadata?.name) };
  let storeVersion = "";
  const annotations: AnnotationClient = {
    // A list, although of one object: its version is the store's, while an object's is that of its own last change.
    get: async () => {
      const found = await effects("read the grant", () => {
        const fieldSelector = `metadata.name=${place.name}`;
        return client.list(vmis, { namespace: place.namespace, fieldSelector, signal });
      });
      storeVersion = found.metadata.resourceVersion;
      mark.check(storeVersion);
      return found.items[0] as (KubeObject & AnnotatedObject) | undefined;
    },
    patch: async (patch) => {
      if (mark.isNew(storeVersion)) {
        await effects("note the version", () => mark.note(storeVersion));
      }
      try {
        const body = { type: "merge", body: patch } as const;
        await effects("swap the grant", () => client.patch(vmis, place, body, { signal }));
        return true;
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return false;
        throw error;
      }
    },
  };
  const store = new AnnotationGrantStore(annotations, text(metadata?.uid), { names });
  return await MayRun.claim(store, { holder }, { clock, random, signal });
}
