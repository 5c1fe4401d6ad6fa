import { channel } from "node:diagnostics_channel";
import type {
  DeleteOptions,
  GetOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ObjectList,
  ObjectName,
  Patch,
  RawRequest,
  RawResponse,
  Resource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "@virtkit/kube";
import { callFeatures, type RecordedCall } from "./call-features.ts";

/**
 * Where the features of each call to a server in this process are published, as a list of strings. This project's own tests listen:
 * a call that no check of the server's suite makes fails the test that made it.
 */
export const callChannel: ReturnType<typeof channel> = channel("virtkit:testing:calls");

/** A client whose calls are published on {@link callChannel}. */
export class RecordedClient implements KubeClient {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  get<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options: GetOptions = {},
  ): Promise<T> {
    return answered(
      { verb: "get", resource, options },
      this.#client.get(resource, object, options),
    );
  }

  list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<ObjectList<T>> {
    return answered({ verb: "list", resource, options }, this.#client.list(resource, options));
  }

  create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    return answered(
      { verb: "create", resource, options },
      this.#client.create(resource, object, options),
    );
  }

  update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    return answered(
      { verb: "update", resource, options },
      this.#client.update(resource, object, options),
    );
  }

  patch<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    return answered(
      { verb: "patch", resource, patch, options },
      this.#client.patch(resource, object, patch, options),
    );
  }

  delete<T extends KubeObject>(
    resource: Resource<T>,
    object: ObjectName,
    options: DeleteOptions = {},
  ): Promise<void> {
    return answered(
      { verb: "delete", resource, options },
      this.#client.delete(resource, object, options),
    );
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>> {
    const call = { verb: "watch", resource, options } as const;
    publish(call);
    try {
      yield* this.#client.watch(resource, options);
    } catch (error) {
      publish({ ...call, error });
      throw error;
    }
  }

  request(request: RawRequest): Promise<RawResponse> {
    return this.#client.request(request);
  }
}

async function answered<T>(call: RecordedCall, answer: Promise<T>): Promise<T> {
  try {
    const value = await answer;
    publish(call);
    return value;
  } catch (error) {
    publish({ ...call, error });
    throw error;
  }
}

function publish(call: RecordedCall): void {
  if (callChannel.hasSubscribers) callChannel.publish(callFeatures(call));
}
