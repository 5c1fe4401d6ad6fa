import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { until } from "@virtkit/api/clock";
import { startApiServer } from "../../../../tools/cluster/api-server.mjs";
import type { Connection } from "../client/connection.ts";
import { HttpClient, type HttpClientOptions } from "../client/http-client.ts";

/** How the kubeconfig of a server under test identifies its user. */
export async function connectionOf(kubeconfig: string): Promise<Connection> {
  const { clusters, users } = JSON.parse(await readFile(kubeconfig, "utf8"));
  const ca = await readFile(clusters[0].cluster["certificate-authority"]);
  const headers = { authorization: `Bearer ${users[0].user.token}` };
  return {
    server: clusters[0].cluster.server,
    credentials: async () => ({ headers, tls: { ca } }),
  };
}

/** A client of the API server that all files of the cluster tier share. */
export async function sharedClient(options: HttpClientOptions = {}): Promise<HttpClient> {
  const kubeconfig = process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "";
  return new HttpClient(await connectionOf(kubeconfig), options);
}

/** A kube-apiserver and an etcd of one test file, which it may break. */
export class RealApiServer implements AsyncDisposable {
  readonly connection: Connection;
  /** Path of a kubeconfig, for other processes. */
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #stop: () => Promise<void>;
  readonly #args: readonly string[];
  #again: ChildProcess | undefined;

  private constructor(
    folder: string,
    args: readonly string[],
    { connection, kubeconfig }: { readonly connection: Connection; readonly kubeconfig: string },
    stop: () => Promise<void>,
  ) {
    this.#folder = folder;
    this.#args = args;
    this.connection = connection;
    this.kubeconfig = kubeconfig;
    this.#stop = stop;
  }

  static async start(): Promise<RealApiServer> {
    const folder = await mkdtemp(path.join(tmpdir(), "virtkit-kube-"));
    // Remembers how the server was started, so that it can be ended and started again.
    const wrapper = path.join(folder, "kube-apiserver");
    const real = process.env["VIRTKIT_KUBE_APISERVER"] ?? "kube-apiserver";
    const script = `#!/bin/sh\necho $$ > ${folder}/pid\nprintf '%s\\n' "$@" > ${folder}/args\nexec ${real} "$@"\n`;
    await writeFile(wrapper, script);
    await chmod(wrapper, 0o755);
    const { kubeconfig, stop } = await startApiServer({ kubeApiserver: wrapper });
    const args = (await readFile(`${folder}/args`, "utf8")).trimEnd().split("\n");
    const connection = await connectionOf(kubeconfig);
    return new RealApiServer(folder, args, { connection, kubeconfig }, stop);
  }

  client(options: HttpClientOptions = {}): HttpClient {
    return new HttpClient(this.connection, options);
  }

  /** Kills it, and waits until it is gone. */
  async kill(): Promise<void> {
    const pid = Number(await readFile(`${this.#folder}/pid`, "utf8"));
    process.kill(pid, "SIGKILL");
    await until(() => hasEnded(pid), { interval: 20 });
  }

  /** Starts it again, on the same port with the same data, maybe with more flags. */
  async startAgain(flags: readonly string[] = []): Promise<void> {
    const wrapper = path.join(this.#folder, "kube-apiserver");
    const launch = (): ChildProcess =>
      spawn(wrapper, [...this.#args, ...flags], { stdio: "ignore" });
    this.#again = launch();
    const client = this.client();
    const isReady = () => {
      // It ends at once if another connection uses its port at the moment.
      if (this.#again?.exitCode !== null) this.#again = launch();
      return client.request({ path: "/readyz" }).then(
        () => true,
        // It is not up yet; `until` asks again.
        () => false,
      );
    };
    const ready = await until(isReady, { interval: 100, timeout: 60_000 });
    client.close();
    if (!ready) throw new Error("the restarted API server is not ready");
  }

  /** Makes etcd discard all versions except the current ones. */
  async compact(): Promise<void> {
    const servers = this.#args.find((arg) => arg.startsWith("--etcd-servers="));
    const etcd = new HttpClient({
      server: servers?.slice("--etcd-servers=".length) ?? "",
      credentials: async () => ({}),
    });
    const post = (where: string, body: unknown) =>
      etcd.request({ method: "POST", path: where, body });
    const { header } = JSON.parse((await post("/v3/kv/range", { key: "AA==" })).body);
    await post("/v3/kv/compaction", { revision: header.revision, physical: true });
    etcd.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#again && this.#again.exitCode === null) await this.kill();
    await this.#stop();
    await rm(this.#folder, { recursive: true });
  }
}

async function hasEnded(pid: number): Promise<boolean> {
  const state = await readFile(`/proc/${pid}/stat`, "utf8").catch(
    // Nothing of it is left.
    () => ") Z",
  );
  return /\) Z/.test(state);
}
