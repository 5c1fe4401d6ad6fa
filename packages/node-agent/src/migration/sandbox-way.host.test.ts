import { once } from "node:events";
import { createServer, type Server, Socket } from "node:net";
import { dirname } from "node:path";
import { names as namesOf } from "@virtkit/api/names";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { connectUnix } from "@virtkit/host-primitives/sockets";
import { createPod, type PodFixture } from "@virtkit/lab";
import { type MigrationSide, migrationIdentity } from "@virtkit/pki";
import { afterAll, expect, test } from "vitest";
import { openSandbox } from "../sandbox/sandbox.ts";
import { type TestAuthority, testAuthority } from "../testing/test-authority.ts";
import type { WayIn, WayOut } from "./migration-way.ts";
import { openWayIn, openWayOut } from "./sandbox-way.ts";

afterAll(stopNamespaceHelper);

const names = namesOf();
const migrationUID = "5d307ca9-b3ef-428c-8861-06e72d69f223";

/** The agents of both nodes, which open ends of the connection into one sandbox each. */
function agents({ podUid, pid }: PodFixture, authority: TestAuthority) {
  const sandbox = openSandbox({ podUid, pid });
  const options = async (side: MigrationSide) => {
    const credentials = await authority.issue(migrationIdentity(migrationUID, side));
    return { migrationUID, credentials, encryption: "none" } as const;
  };
  return {
    [Symbol.dispose]: () => sandbox[Symbol.dispose](),
    /** Answers everything with itself, as a launcher inside. */
    echo: async (path: string): Promise<Server> => {
      using entry = sandbox.root.locate(path);
      const server = createServer((socket) => socket.pipe(socket));
      server.listen(`${entry.directory.procPath}/${entry.name}`);
      await once(server, "listening");
      return server;
    },
    /** What comes back from a socket inside. */
    ask: async (path: string): Promise<string> => {
      using socket = sandbox.root.resolve(path, "socket");
      const signal = AbortSignal.timeout(10_000);
      const connection = await connectUnix(socket, { signal });
      const fd = connection.release();
      const asked = new Socket({ fd, allowHalfOpen: true, readable: true, writable: true });
      asked.write("hello");
      const [answer] = await once(asked, "data");
      asked.destroy();
      return String(answer);
    },
    openIn: async (): Promise<WayIn> =>
      await openWayIn(sandbox, names, { ...(await options("target")), address: "127.0.0.1" }),
    openOut: async ({ listener: target }: WayIn): Promise<WayOut> =>
      await openWayOut(sandbox, names, { ...(await options("source")), target }),
  };
}

test("agents that were restarted open the connection again where both launchers know it", async () => {
  await using pod = await createPod();
  using authority = await testAuthority();
  using agent = agents(pod, authority);
  const { sockets: launchers, migrationProxy } = names.directories;
  pod.run(`mkdir -p ${launchers} ${dirname(migrationProxy)}`);

  const wayIn = await agent.openIn();
  const launcher = await agent.echo(wayIn.sockets.serve);
  const wayOut = await agent.openOut(wayIn);
  const { peer } = wayOut.sockets;
  expect(await agent.ask(peer)).toBe("hello");

  await wayIn[Symbol.asyncDispose]();
  await wayOut[Symbol.asyncDispose]();
  // An agent that is killed leaves its sockets behind.
  for (const path of [peer, wayOut.sockets.memory]) pod.run(`touch ${path}`);
  const again = await agent.openIn();
  expect(again.sockets).toEqual(wayIn.sockets);
  const outAgain = await agent.openOut(again);
  expect(outAgain.sockets).toEqual(wayOut.sockets);
  expect(await agent.ask(peer)).toBe("hello");

  await again[Symbol.asyncDispose]();
  await outAgain[Symbol.asyncDispose]();
  expect(pod.run(`ls -A ${migrationProxy}`)).toBe("");
  launcher.close();
});
