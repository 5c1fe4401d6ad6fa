import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { type Claimed, decide, type Holder } from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseDomain } from "@virtkit/converter";
import { connectLibvirt, type Libvirt } from "@virtkit/domain-manager/libvirt";
import { type CertificateAuthority, type MigrationSide, migrationIdentity } from "@virtkit/pki";
import { serveConnection } from "../channel/serve-connection.ts";
import { LauncherMigrations } from "../migration/launcher-migrations.ts";
import type { ReceiveRequest } from "../migration/migration-verbs.ts";
import { AgentApi, type AgentConfig, AgentProcess } from "./agent-process.ts";
import { holderOn } from "./joined-move.ts";
import { domain, type JoinedNode } from "./joined-nodes.ts";
import { MemoryGuest } from "./memory-guest.ts";

/** The parts of a move with agents in their own processes. */
export interface AgentMoveParts {
  readonly number: number;
  readonly nodes: readonly [JoinedNode, JoinedNode];
  readonly authority: CertificateAuthority;
  /** The VMI, and the grant that it has now. */
  readonly vmi: VirtualMachineInstance;
  readonly claimed: Claimed;
}

/**
 * Where a launcher stops, such as `target domainMigrateFinish.after`, or what is lost
 * on the way.
 */
export interface AgentMoveOptions {
  readonly holdAt?: string;
  /** The source's launcher decides, its message is lost, and its agent ends before it can tell anybody. */
  readonly untoldDecision?: boolean;
}

/** One move: launchers that live through it, and agents that may not. */
export class AgentMove implements AsyncDisposable {
  readonly api: AgentApi;
  readonly source: JoinedNode;
  readonly target: JoinedNode;
  /** Resolves when a launcher has stopped where it is held. */
  readonly held: Promise<void>;
  readonly #configs: Record<MigrationSide, AgentConfig>;
  readonly #options: AgentMoveOptions;
  readonly #closing: (() => unknown)[] = [];
  readonly #agents: Partial<Record<MigrationSide, AgentProcess>> = {};
  #reach: () => void = () => {};
  #go: () => void = () => {};
  readonly #free: Promise<void>;

  private constructor(
    api: AgentApi,
    [source, target]: readonly [JoinedNode, JoinedNode],
    configs: Record<MigrationSide, AgentConfig>,
    options: AgentMoveOptions,
  ) {
    this.api = api;
    this.source = source;
    this.target = target;
    this.#configs = configs;
    this.#options = options;
    this.held = new Promise((resolve) => {
      this.#reach = resolve;
    });
    this.#free = new Promise((resolve) => {
      this.#go = resolve;
    });
  }

  static async start(parts: AgentMoveParts, options: AgentMoveOptions = {}): Promise<AgentMove> {
    const { number, nodes, authority, vmi, claimed } = parts;
    const [first, second] = nodes;
    const [source, target] = first.name === claimed.holder.node ? nodes : [second, first];
    const to = holderOn(target.name, number);
    const migrationUID = `m-${number}`;
    const asked = { target: to, migrationUID, remembered: true, sourceRuns: true } as const;
    const handedOver = decide(claimed, { kind: "handOver", ...asked });
    if ("refused" in handedOver) throw new Error(handedOver.reason);
    const { vmiUID, epoch, seq } = handedOver.grant;
    const moving = movingVmi(vmi, source.name, target.name, migrationUID);
    const api = new AgentApi(handedOver.grant, moving);
    const sockets = socketsFor(number, source, target);
    const config = async (
      side: MigrationSide,
      node: JoinedNode,
      holder: Holder,
    ): Promise<AgentConfig> => ({
      ...{ side, node: node.name, vmiUID, holder, sockets, address: node.address },
      migration: { migrationUID, vmiUID, epoch, seq },
      launcher: pathOn(node, `channel${number}`),
      credentials: await authority.issue(migrationIdentity(migrationUID, side)),
      receive: {
        domain: domain.uuid,
        guest: { vmi: moving, context: {} as ReceiveRequest["guest"]["context"] },
      },
    });
    const configs = {
      source: await config("source", source, claimed.holder),
      target: await config("target", target, to),
    };
    const move = new AgentMove(api, [source, target], configs, options);
    await move.#serve("source", source);
    await move.#serve("target", target);
    await move.#relay(sockets.peer, sockets.proxied);
    move.startAgent("target");
    move.startAgent("source", options.untoldDecision ? "released" : undefined);
    return move;
  }

  /** Starts or restarts an agent; it knows nothing of its predecessor. */
  startAgent(side: MigrationSide, diesAtDecision?: string): AgentProcess {
    const { network } = this[side];
    const agent = new AgentProcess(network, { ...this.#configs[side], diesAtDecision }, this.api);
    this.#agents[side] = agent;
    return agent;
  }

  agent(side: MigrationSide): AgentProcess {
    const found = this.#agents[side];
    if (!found) throw new Error(`the ${side} has no agent`);
    return found;
  }

  /** Lets the launcher continue. */
  go(): void {
    this.#go();
  }

  /** A launcher that outlives its agent, served over its channel. */
  async #serve(side: MigrationSide, { daemon, definition }: JoinedNode): Promise<void> {
    const { vmiUID, launcher } = this.#configs[side];
    const migrations = new LauncherMigrations({
      ...{ vmiUID, domain: domain.name, directory: `${daemon.directory}/state` },
      connect: async () => this.#holding(await connectLibvirt({ uri: daemon.uri }), side),
      prepareGuest: async () => ({ domain: parseDomain(definition), complete: async () => {} }),
    });
    this.#closing.push(() => migrations[Symbol.asyncDispose]());
    const info = {
      ...{ versions: [1], software: "test", verbs: ["ping"], servedNetworks: [] },
      vmi: { name: "vm", namespace: "ns", uid: vmiUID },
    };
    const control = new MemoryGuest();
    await this.#listen(launcher, (socket) => {
      const served = serveConnection(socket, { control, info: () => info, migrations });
      this.#closing.push(() => served.close());
    });
  }

  /** Stops before or after one libvirt call. */
  #holding(libvirt: Libvirt, side: MigrationSide): Libvirt {
    const call = async (name: string, ...rest: readonly unknown[]): Promise<unknown> => {
      await this.#hold(`${side} ${name}.before`);
      // biome-ignore lint/suspicious/noExplicitAny: every procedure passes, whatever its types
      const answer = await (libvirt.call as any)(name, ...rest);
      await this.#hold(`${side} ${name}.after`);
      return answer;
    };
    return new Proxy(libvirt, {
      get: (connection, key) => {
        if (key === "call") return call;
        const value = Reflect.get(connection, key);
        return typeof value === "function" ? value.bind(connection) : value;
      },
    });
  }

  async #hold(point: string): Promise<void> {
    if (point !== this.#options.holdAt) return;
    this.#reach();
    await this.#free;
  }

  /** Between the source's launcher and its proxy; can lose the release. */
  async #relay(path: string, to: string): Promise<void> {
    const isLost = (chunk: Buffer): boolean =>
      this.#options.untoldDecision === true && chunk.includes('"method":"release"');
    await this.#listen(path, (near) => {
      const far = connect({ path: to });
      near.on("data", (chunk: Buffer) => {
        if (!isLost(chunk)) far.write(chunk);
      });
      far.pipe(near);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on("error", () => {}).on("close", () => other.destroy());
      }
    });
  }

  async #listen(path: string, onConnection: (socket: Socket) => void): Promise<void> {
    const server: Server = createServer(onConnection);
    this.#closing.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(path, resolve));
    chmodSync(path, 0o777);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#go();
    for (const agent of Object.values(this.#agents)) await agent.kill();
    for (const close of this.#closing.splice(0).reverse()) await close();
  }
}

function pathOn({ daemon }: JoinedNode, name: string): string {
  const path = `${daemon.directory}/${name}`;
  rmSync(path, { force: true });
  return path;
}

function socketsFor(
  number: number,
  source: JoinedNode,
  target: JoinedNode,
): AgentConfig["sockets"] {
  const here = (name: string): string => pathOn(source, `${name}${number}`);
  const there = (name: string): string => pathOn(target, `${name}${number}`);
  return {
    ...{ peer: here("ctl"), proxied: here("pxy"), out: here("out"), answers: here("s") },
    ...{ serve: there("t"), in: there("in"), asks: there("ask") },
  };
}

/** As the controller leaves it when the target's Pod exists. */
function movingVmi(
  vmi: VirtualMachineInstance,
  sourceNode: string,
  targetNode: string,
  migrationUid: string,
): VirtualMachineInstance {
  const labels = { "kubevirt.io/migrationTargetNodeName": targetNode };
  return {
    ...vmi,
    metadata: { ...vmi.metadata, labels },
    status: { nodeName: sourceNode, migrationState: { migrationUid, sourceNode, targetNode } },
  };
}
