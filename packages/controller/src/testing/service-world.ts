import type { Clock } from "@virtkit/api/clock";
import { clusterConfig } from "@virtkit/api/config";
import { crds } from "@virtkit/api/crd";
import type { Observers } from "@virtkit/api/observe";
import type { Random } from "@virtkit/api/random";
import type { KubeClient, KubeObject } from "@virtkit/kube";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import {
  createTestCluster,
  type TestCluster,
  type TestClusterOptions,
} from "@virtkit/testing/cluster";
import { type ControllersOptions, createControllers } from "../service/create-controllers.ts";
import {
  runScriptedNodeAgents,
  type ScriptedNodeAgentsOptions,
} from "../service/testing/scripted-node-agents.ts";
import type { VmiPlanConfig } from "../vmi/vmi-plan-config.ts";

/** The configuration of simulated clusters, whose nodes have no KVM. */
export const worldConfig: VmiPlanConfig = {
  cluster: clusterConfig({ developerConfiguration: { useEmulation: true } }),
  profile: virtkitLauncherProfile({ image: "launcher:1" }),
};

/** A simulated cluster with the platform's CRDs and scripted node agents. */
export async function serviceWorld(
  options: TestClusterOptions = {},
  agents: Partial<ScriptedNodeAgentsOptions> = {},
): Promise<ServiceWorld> {
  const objects = [...(crds() as unknown as KubeObject[]), ...(options.objects ?? [])];
  const cluster = await createTestCluster({ ...options, objects });
  const world = new ServiceWorld(cluster);
  world.start((signal) =>
    runScriptedNodeAgents({
      ...{ heartbeat: 60_000, ...world.time, ...agents, signal },
      client: cluster.client("agents"),
    }),
  );
  await cluster.clock.pass(1_000);
  return world;
}

/** See {@link serviceWorld}. */
export class ServiceWorld implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly #running: { readonly stop: AbortController; readonly ended: Promise<void> }[] = [];

  constructor(cluster: TestCluster) {
    this.cluster = cluster;
  }

  get time(): { readonly clock: Clock; readonly random: Random; readonly wall: () => Date } {
    const { clock, random, server } = this.cluster;
    return { clock, random, wall: () => server.date() };
  }

  /** Runs something until it is stopped or the world ends. Returns the function that stops it. */
  start(run: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
    const stop = new AbortController();
    const ended = run(stop.signal);
    this.#running.push({ stop, ended });
    return async () => {
      stop.abort();
      await ended;
    };
  }

  /** Runs the controllers under a name. */
  startControllers(
    actor: string,
    options: Partial<ControllersOptions> & Observers & { readonly client?: KubeClient } = {},
  ): () => Promise<void> {
    const client = this.cluster.client(actor);
    const config = () => worldConfig;
    const controllers = createControllers({ client, config, ...this.time, ...options });
    return this.start((signal) => controllers.run({ signal }));
  }

  /** The writes of an actor in brief: `patch pods/status 200`. */
  writes(actor: string): readonly string[] {
    return this.cluster
      .writes(actor)
      .map(({ verb, resource, subresource, status }) =>
        [verb, subresource ? `${resource}/${subresource}` : resource, status].join(" "),
      );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { stop } of this.#running) stop.abort();
    await Promise.allSettled(this.#running.map(({ ended }) => ended));
    await this.cluster[Symbol.asyncDispose]();
  }
}
