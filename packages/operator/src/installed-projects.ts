import { cdiGroup } from "@virtkit/api/names";
import { isNotFound, type KubeClient } from "@virtkit/kube";

/** Other projects that the platform uses if they are installed. */
export interface FoundProjects {
  /** CDI, which fills DataVolumes. */
  readonly cdi: boolean;
  /** Multus, which gives Pods more than one network. */
  readonly multus: boolean;
}

const groups = { cdi: `${cdiGroup}/v1beta1`, multus: "k8s.cni.cncf.io/v1" };

/**
 * Which other projects this cluster has, by the API groups that it serves. Ask again to find what is installed
 * later.
 */
export async function installedProjects(
  client: KubeClient,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<FoundProjects> {
  const has = async (group: string): Promise<boolean> => {
    try {
      await client.request({ path: `/apis/${group}`, signal });
      return true;
    } catch (error) {
      if (isNotFound(error) || (error as { status?: unknown }).status === 404) return false;
      throw error;
    }
  };
  const [cdi, multus] = await Promise.all([has(groups.cdi), has(groups.multus)]);
  return { cdi, multus };
}
