import { isKubeError, type KubeClient } from "@virtkit/kube";

/** A client that records each write and its outcome, by object: `patch pods/status ok`. */
export function countedWrites(client: KubeClient, writes: string[]): KubeClient {
  const noted = async <T>(what: string, sent: Promise<T>): Promise<T> => {
    try {
      const answer = await sent;
      writes.push(`${what} ok`);
      return answer;
    } catch (error) {
      writes.push(`${what} ${isKubeError(error) ? error.status : "failed"}`);
      throw error;
    }
  };
  const path = (plural: string, subresource: string | undefined): string =>
    subresource ? `${plural}/${subresource}` : plural;
  return {
    get: (...args) => client.get(...args),
    list: (...args) => client.list(...args),
    watch: (...args) => client.watch(...args),
    request: (...args) => client.request(...args),
    create: (resource, object, options) =>
      noted(
        `create ${path(resource.plural, options?.subresource)}`,
        client.create(resource, object, options),
      ),
    update: (resource, ...rest) =>
      noted(`update ${resource.plural}`, client.update(resource, ...rest)),
    patch: (resource, object, patch, options) =>
      noted(
        `patch ${path(resource.plural, options?.subresource)}`,
        client.patch(resource, object, patch, options),
      ),
    delete: (resource, ...rest) =>
      noted(`delete ${resource.plural}`, client.delete(resource, ...rest)),
  };
}
