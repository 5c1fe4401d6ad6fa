import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpClient } from "../client/http-client.ts";
import { leases } from "../election/lease.ts";
import { createNamespace } from "../testing/config-maps.ts";
import { sharedClient } from "../testing/real-api-server.ts";
import { Shards } from "./shards.ts";

const namespace = "kube-shards";
let client: HttpClient;
beforeAll(async () => {
  client = await sharedClient();
  await createNamespace(client, namespace);
});
afterAll(() => client.close());

/** A member that works on its shards until it is stopped. */
function join(identity: string) {
  const times = { leaseDuration: 4_000, margin: 1_500, renewEvery: 500 };
  const shards = new Shards({ client, namespace, name: "demo", shards: 4, identity, ...times });
  const working = new Set<number>();
  const stop = new AbortController();
  const running = shards.run(
    async (shard, { signal }) => {
      working.add(shard);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      working.delete(shard);
    },
    { signal: stop.signal },
  );
  return { working, stop, running };
}

test("members share the shards at a real API server, and the shards of a member that leaves go to the other", async () => {
  const limit = { timeout: 30_000, interval: 100 };
  const one = join("one");
  await expect.poll(() => one.working.size, limit).toBe(4);
  const two = join("two");
  await expect.poll(() => [one.working.size, two.working.size], limit).toEqual([2, 2]);
  expect([...one.working, ...two.working].sort()).toEqual([0, 1, 2, 3]);
  one.stop.abort();
  await one.running;
  await expect.poll(() => two.working.size, limit).toBe(4);
  two.stop.abort();
  await two.running;
  const { items } = await client.list(leases, { namespace });
  expect(items.map(({ metadata, spec }) => [metadata.name, spec?.holderIdentity])).toEqual(
    [0, 1, 2, 3].map((shard) => [`demo-${shard}-of-4`, ""]),
  );
});
