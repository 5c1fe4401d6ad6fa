import { quantityFrom } from "@virtkit/api/quantity";
import type { PersistentVolumeClaimInfo } from "@virtkit/api/schema";
import { text } from "@virtkit/api/shape";
import { isBlockClaim } from "@virtkit/api/volumes";
import type { ClaimObject } from "./cluster-objects.ts";
import type { VmiView } from "./vmi-view.ts";

const defaultOverhead = "0.055";

type Amounts = Readonly<Record<string, string | number>>;

/**
 * What the node has to know about a claim, so that it need not ask; a string if CDI does not say
 * enough.
 */
export function claimInfo(view: VmiView, claim: ClaimObject): PersistentVolumeClaimInfo | string {
  const overhead = filesystemOverhead(view, claim);
  if ("problem" in overhead) return overhead.problem;
  const { metadata, spec, status } = claim;
  const isPreallocated = Object.entries(metadata?.annotations ?? {}).some(
    ([key, value]) =>
      value === "true" &&
      (key.includes("/storage.preallocation") || key.includes("/storage.thick-provisioned")),
  );
  return {
    claimName: text(metadata?.name),
    ...(spec?.accessModes ? { accessModes: [...spec.accessModes] } : {}),
    ...(spec?.volumeMode === undefined ? {} : { volumeMode: spec.volumeMode }),
    ...amountsAs("capacity", status?.capacity),
    ...amountsAs("requests", spec?.resources?.requests),
    ...(isPreallocated ? { preallocated: true } : {}),
    filesystemOverhead: overhead.share,
  };
}

/** In normal form, so that the same amount is never written again. */
function amountsAs<K extends string>(
  name: K,
  amounts: Amounts | undefined,
): Partial<Record<K, Record<string, string>>> {
  if (!amounts) return {};
  const entries = Object.entries(amounts).map(([key, amount]) => [
    key,
    quantityFrom(amount).toString(),
  ]);
  return { [name]: Object.fromEntries(entries) } as Partial<Record<K, Record<string, string>>>;
}

/** The share of a file system that an image must leave free. */
function filesystemOverhead(
  { cdi }: VmiView,
  { spec }: ClaimObject,
): { readonly share: string } | { readonly problem: string } {
  if (cdi.instances !== 1) return { share: defaultOverhead };
  if (!cdi.config)
    return { problem: "CDI is installed, but its configuration does not exist yet; wait for it" };
  if (isBlockClaim(spec)) return { share: "0" };
  const overhead = cdi.config.status?.filesystemOverhead;
  if (!overhead) return { problem: "CDI's configuration is not complete yet; wait for it" };
  const { global = "", storageClass = {} } = overhead;
  const own = spec?.storageClassName;
  const share = own !== undefined && Object.hasOwn(storageClass, own) ? storageClass[own] : global;
  return { share: share ?? global };
}
