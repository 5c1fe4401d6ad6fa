import { at } from "@virtkit/api/shape";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeClient,
  type KubeObject,
} from "@virtkit/kube";
import type { AuthorityStore, StoredAuthorities } from "@virtkit/pki";
import { ApiServerError } from "../api-server-error.ts";
import { otherResources } from "../resources.ts";

/** The field of the Secret. */
const field = "authorities.json";

/**
 * Keeps the CAs of an installation in a Secret that several replicas share. A write names the version that was
 * read, so that if two replicas create a CA at the same time, one takes over the other's.
 */
export class SecretAuthorityStore implements AuthorityStore {
  readonly #client: KubeClient;
  readonly #place: { readonly namespace: string; readonly name: string };

  constructor(client: KubeClient, place: { readonly namespace: string; readonly name: string }) {
    this.#client = client;
    this.#place = place;
  }

  async read(): Promise<StoredAuthorities | undefined> {
    let secret: KubeObject;
    try {
      secret = await this.#client.get(otherResources.secrets, this.#place);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    const encoded = at(secret, "data", field);
    const revision = secret.metadata.resourceVersion;
    if (typeof encoded !== "string" || revision === undefined) {
      const { namespace, name } = this.#place;
      const message = `Secret ${namespace}/${name} has no ${field}; delete it, or use another name`;
      throw new ApiServerError("API_SERVER_SECRET_INVALID", message);
    }
    return { content: Buffer.from(encoded, "base64").toString(), revision };
  }

  async swap(content: string, revision: string | undefined): Promise<boolean> {
    const data = { [field]: Buffer.from(content).toString("base64") };
    const object = {
      metadata: {
        ...this.#place,
        ...(revision === undefined ? {} : { resourceVersion: revision }),
      },
      type: "Opaque",
      data,
    } as KubeObject;
    try {
      if (revision === undefined) await this.#client.create(otherResources.secrets, object);
      else await this.#client.update(otherResources.secrets, object);
      return true;
    } catch (error) {
      if (isAlreadyExists(error) || isConflict(error) || isNotFound(error)) return false;
      throw error;
    }
  }
}
