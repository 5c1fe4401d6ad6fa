import { encodeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names as namesOf } from "@virtkit/api/names";
import { DomainManagerError } from "@virtkit/domain-manager";
import { type KubeClient, KubeError } from "@virtkit/kube";
import { expect, test } from "vitest";
import { AgentWorld, type WorldLauncher } from "../testing/agent-world.ts";

const names = namesOf();
const [second, minute] = [1_000, 60_000];

/** How an agent is connected to its API server: `behind` reads what is there, and hears of no change. */
type Line = { is: "open" | "behind" | "cut" };

function clientOver(client: KubeClient, line: Line): KubeClient {
  return new Proxy(client, {
    get(target, method, receiver) {
      const own: unknown = Reflect.get(target, method, receiver);
      if (typeof own !== "function") return own;
      if (method === "watch") {
        return (...given: unknown[]) => heard(Reflect.apply(own, target, given), line);
      }
      return async (...given: unknown[]) => {
        if (line.is === "cut") throw new KubeError("KUBE_CONNECTION", "the API server is away");
        return await Reflect.apply(own, target, given);
      };
    },
  });
}

async function* heard<T>(events: AsyncIterable<T>, line: Line): AsyncGenerator<T> {
  for await (const event of events) {
    if (line.is === "open") yield event;
  }
}

const syncs = ({ calls }: WorldLauncher): number =>
  calls.filter((call) => call === "syncVmi").length;

/** A guest that was claimed and whose start has failed so far; the next attempt would succeed. */
async function failedStart(world: AgentWorld, line: Line): Promise<WorldLauncher> {
  const launcher = await world.schedule("a");
  const { guest } = launcher;
  const start = guest.syncVmi;
  guest.syncVmi = async () => {
    throw new DomainManagerError("DOMAIN_LIBVIRT", "no memory left");
  };
  world.start(undefined, { client: clientOver(world.server.client("agent"), line) });
  await world.clock.pass(5 * second);
  expect(syncs(launcher)).toBeGreaterThan(0);
  expect(await world.grant("a")).toMatchObject({ state: "Claimed" });
  guest.syncVmi = start;
  launcher.calls.length = 0;
  return launcher;
}

test("a guest that was claimed and did not start is not started while the API server is away", async () => {
  await using world = new AgentWorld();
  const line: Line = { is: "open" };
  const launcher = await failedStart(world, line);
  line.is = "cut";
  await world.clock.pass(10 * minute);
  expect([syncs(launcher), launcher.starts]).toEqual([0, 0]);
  line.is = "open";
  await world.clock.pass(10 * minute);
  expect([syncs(launcher), launcher.starts]).toEqual([1, 1]);
});

test("a guest whose claim has ended is not started by an agent that has not heard of it", async () => {
  await using world = new AgentWorld();
  const line: Line = { is: "open" };
  const launcher = await failedStart(world, line);
  line.is = "behind";
  const vmiUID = launcher.vmiUid;
  const ended = encodeGrant({ state: "Ended", vmiUID, epoch: 1, seq: 3 });
  await world.change("a", (vmi) => {
    const annotations = { ...vmi.metadata?.annotations, [names.own(grantAnnotation)]: ended };
    return { ...vmi, metadata: { ...vmi.metadata, annotations } };
  });
  await world.clock.pass(10 * minute);
  expect([syncs(launcher), launcher.starts]).toEqual([0, 0]);
});
