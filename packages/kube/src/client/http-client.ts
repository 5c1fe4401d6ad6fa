import type { IncomingMessage } from "node:http";
import { type Clock, realClock, sleep } from "@virtkit/api/clock";
import { goJson } from "@virtkit/api/go-json";
import { type Log, type Metrics, noMetrics, type Observers, silentLog } from "@virtkit/api/observe";
import type { Answer } from "./answer-parser.ts";
import type { Connection } from "./connection.ts";
import type {
  DeleteOptions,
  GetOptions,
  KubeClient,
  ListOptions,
  ObjectList,
  Patch,
  RawRequest,
  RawResponse,
  RequestOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import type { KubeObject } from "./kube-object.ts";
import { LineSplitter } from "./line-splitter.ts";
import { readList, readObject, readWatchLine } from "./read-answer.ts";
import { readBody } from "./read-body.ts";
import { queryOf, requestPath } from "./request-path.ts";
import { RequestScope } from "./request-scope.ts";
import { requestShape } from "./request-shape.ts";
import { apiVersionOf, type ObjectName, type Resource } from "./resource.ts";
import { retryDelay } from "./retry-delay.ts";
import { statusError } from "./status-error.ts";
import { headersOf, Transport, type TransportRequest } from "./transport.ts";

/** Options of an {@link HttpClient}. */
export interface HttpClientOptions extends Observers {
  /** Milliseconds that a request has, repeats included; a watch only until it begins. By default a minute. */
  readonly timeout?: number | undefined;
  /** The longest event of a watch. By default 16 MiB; a server stores no object larger than a few. */
  readonly maxLineBytes?: number | undefined;
  /** The longest answer. By default 256 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  readonly userAgent?: string | undefined;
  readonly clock?: Clock | undefined;
}

const patchTypes: Readonly<Record<Patch["type"], string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** A `KubeClient` over HTTP. */
export class HttpClient implements KubeClient {
  readonly #transport: Transport;
  readonly #timeout: number;
  readonly #maxLineBytes: number;
  readonly #maxAnswerBytes: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #host: string;
  readonly #exchanging: Sending<Answer> = {
    start: (request, scope) => this.#transport.exchange(request, scope),
    bodyOf: ({ body }) => body,
  };
  readonly #opening: Sending<Opened> = {
    start: async (request, scope) => {
      const response = await this.#transport.open(request, scope);
      return { status: response.statusCode ?? 0, headers: headersOf(response), response };
    },
    bodyOf: async ({ response }) => await readBody(response, this.#maxAnswerBytes),
  };

  constructor(connection: Connection, options: HttpClientOptions = {}) {
    this.#clock = options.clock ?? realClock;
    this.#timeout = options.timeout ?? 60_000;
    this.#maxLineBytes = options.maxLineBytes ?? 16 * 2 ** 20;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? 256 * 2 ** 20;
    this.#transport = new Transport(connection, this.#clock, this.#maxAnswerBytes);
    const userAgent = options.userAgent ?? "virtkit-kube";
    this.#headers = { accept: "application/json", "user-agent": userAgent };
    this.#log = options.log ?? silentLog;
    this.#metrics = options.metrics ?? noMetrics;
    this.#host = new URL(connection.server).host;
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    { namespace, name }: ObjectName,
    { subresource, ...options }: GetOptions = {},
  ): Promise<T> {
    const path = requestPath(resource, { namespace, name, subresource });
    return await this.#object("GET", path, undefined, options);
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    { namespace, signal, timeout, ...query }: ListOptions = {},
  ): Promise<ObjectList<T>> {
    const path = requestPath(resource, { namespace }) + queryOf({ ...query });
    const body = await this.#text({ method: "GET", path }, { signal, timeout });
    return readList(`GET ${path}`, resource, body);
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const { namespace, name } = object.metadata;
    const { subresource } = options;
    const parts = subresource === undefined ? { namespace } : { namespace, name, subresource };
    const body = subresource === undefined ? typed(resource, object) : object;
    return await this.#write("POST", requestPath(resource, parts), body, options);
  }

  async update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const { namespace, name } = object.metadata;
    if (name === undefined) {
      const message = "metadata.name: an updated object must have a name";
      throw new KubeError("KUBE_INPUT_INVALID", message, { path: "metadata.name" });
    }
    const path = requestPath(resource, { namespace, name, subresource: options.subresource });
    // What goes to another subresource, as `scale`, is of another kind.
    const isWhole = options.subresource === undefined || options.subresource === "status";
    const body = isWhole ? typed(resource, object) : object;
    return await this.#write("PUT", path, body, options);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    { namespace, name }: ObjectName,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = requestPath(resource, { namespace, name, subresource: options.subresource });
    const body = patch.type === "json" ? patch.operations : patch.body;
    const force = patch.type === "apply" ? patch.force : undefined;
    return await this.#write("PATCH", path, body, options, { force }, patchTypes[patch.type]);
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    { namespace, name }: ObjectName,
    { dryRun, signal, timeout, ...options }: DeleteOptions = {},
  ): Promise<void> {
    const path = requestPath(resource, { namespace, name });
    const body = {
      apiVersion: "meta.k8s.io/v1",
      kind: "DeleteOptions",
      ...options,
      ...(dryRun && { dryRun: ["All"] }),
    };
    await this.#text({ method: "DELETE", path, ...json(body) }, { signal, timeout });
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    { namespace, signal, timeout, onOpen, ...query }: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    // The server takes a watch that begins with a list only together with this.
    const match = query.sendInitialEvents ? { resourceVersionMatch: "NotOlderThan" } : {};
    const parameters = queryOf({ watch: true, ...query, ...match });
    const request = { method: "GET", path: requestPath(resource, { namespace }) + parameters };
    const path = `GET ${request.path}`;
    using scope = this.#scope(path, { signal, timeout });
    const lines = new LineSplitter(this.#maxLineBytes);
    try {
      const { response } = await this.#send(request, scope, this.#opening);
      scope.started();
      onOpen?.();
      for await (const chunk of response) {
        for (const line of lines.push(chunk as Buffer)) yield readWatchLine<T>(path, line);
      }
      if (lines.isInLine) throw new Error("the watch ended in the middle of an event");
    } catch (error) {
      throw scope.error(error);
    }
  }

  async request({
    method = "GET",
    path,
    headers,
    body,
    ...options
  }: RawRequest): Promise<RawResponse> {
    if (!path.startsWith("/")) {
      const message = `path: must begin with a slash, found ${JSON.stringify(path)}`;
      throw new KubeError("KUBE_INPUT_INVALID", message, { path: "path" });
    }
    const content = typeof body === "string" ? { body } : body === undefined ? {} : json(body);
    const all = { ...content, headers: { ...content.headers, ...headers } };
    return await this.#answer({ method, path, ...all }, options);
  }

  /** Closes idle connections. A client that is not closed keeps no process from ending for long. */
  close(): void {
    this.#transport.close();
  }

  #scope(path: string, { signal, timeout = this.#timeout }: RequestOptions): RequestScope {
    return new RequestScope(path, this.#clock, timeout, signal);
  }

  async #write<T extends KubeObject>(
    method: string,
    path: string,
    body: unknown,
    { dryRun, fieldManager, signal, timeout }: WriteOptions,
    query: Readonly<Record<string, boolean | undefined>> = {},
    contentType?: string,
  ): Promise<T> {
    const all = { ...query, fieldManager, dryRun: dryRun ? "All" : undefined };
    return await this.#object(method, path + queryOf(all), json(body, contentType), {
      signal,
      timeout,
    });
  }

  async #object<T extends KubeObject>(
    method: string,
    path: string,
    content: Partial<TransportRequest> | undefined,
    options: RequestOptions,
  ): Promise<T> {
    const body = await this.#text({ method, path, ...content }, options);
    return readObject(`${method} ${path}`, body);
  }

  /** The body of an answer. */
  async #text(request: Request, options: RequestOptions): Promise<string> {
    return (await this.#answer(request, options)).body;
  }

  /** One request with its complete response, within its time. */
  async #answer(request: Request, options: RequestOptions): Promise<Answer> {
    using scope = this.#scope(`${request.method} ${request.path}`, options);
    try {
      return await this.#send(request, scope, this.#exchanging);
    } catch (error) {
      throw scope.error(error);
    }
  }

  /** Sends a request, and repeats it if the server asks for that, until it succeeds. */
  async #send<T extends Pick<Answer, "status" | "headers">>(
    request: Request,
    scope: RequestScope,
    { start, bodyOf }: Sending<T>,
  ): Promise<T> {
    const { method, path } = request;
    const headers = { ...this.#headers, ...contentLength(request), ...request.headers };
    for (let retries = 0; ; retries++) {
      const startedAt = this.#clock.now();
      const answer = await start({ ...request, headers }, scope);
      const { status } = answer;
      this.#tell(request, status, startedAt);
      if (status >= 200 && status < 300) return answer;
      const retryAfter = answer.headers["retry-after"];
      const error = statusError(`${method} ${path}`, status, await bodyOf(answer), retryAfter);
      const delay = retryDelay(error, retries);
      if (delay === undefined || !scope.hasTimeFor(delay)) throw error;
      this.#metrics.count("kube_request_retries", { method, status: String(status) });
      this.#log.debug({ method, path, status, delay }, "the server asked to retry a request");
      await sleep(this.#clock, delay, scope.signal);
    }
  }

  #tell({ method, path }: Request, status: number, startedAt: number): void {
    if (this.#metrics === noMetrics) return;
    const seconds = (this.#clock.now() - startedAt) / 1_000;
    const shape = requestShape(method, path);
    const told = { method, status: String(status), host: this.#host, ...shape };
    this.#metrics.observe("kube_request_seconds", seconds, told);
  }
}

type Request = Omit<TransportRequest, "headers"> & Partial<Pick<TransportRequest, "headers">>;

/** One way to send a request: until its answer has begun, or until it is complete. */
interface Sending<T> {
  readonly start: (request: TransportRequest, scope: RequestScope) => Promise<T>;
  readonly bodyOf: (answer: T) => string | Promise<string>;
}

/** An answer of which only the head has come. */
interface Opened extends Pick<Answer, "status" | "headers"> {
  readonly response: IncomingMessage;
}

/** Methods that state the length of their body even if there is none. */
const withBody = new Set(["POST", "PUT", "PATCH"]);

function contentLength({ method, body }: Request): Record<string, string> {
  if (body === undefined && !withBody.has(method)) return {};
  return { "content-length": String(Buffer.byteLength(body ?? "")) };
}

/** As Go writes it: kube-apiserver compares the texts that a JSON patch tests byte by byte with its own encoding. */
function json(body: unknown, contentType = "application/json"): Pick<Request, "headers" | "body"> {
  return { headers: { "content-type": contentType }, body: goJson(body) };
}

/** An object that says what it is; a server insists on it for custom resources. */
function typed<T extends KubeObject>(resource: Resource<T>, object: T): KubeObject {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
