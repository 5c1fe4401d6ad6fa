import { names } from "@virtkit/api/names";
import type { KubeObject } from "@virtkit/kube";
import { InProcessApiServer } from "@virtkit/testing/api-server";
import { SeededRandom, VirtualClock } from "@virtkit/testing/virtual-time";
import { expect, test } from "vitest";
import { podResource } from "../plan/resources.ts";
import { CacheFeeds } from "./cache-feeds.ts";
import { SharedCaches } from "./shared-caches.ts";

const { app } = names().labels;

const podOf = (name: string, labels: Readonly<Record<string, string>> = {}): KubeObject =>
  ({
    metadata: { namespace: "default", name, labels },
    spec: { containers: [{ name: "main", image: "demo" }] },
  }) as KubeObject;

test("Pods of others are neither listed nor kept, whether they were there before or come later", async () => {
  const clock = new VirtualClock();
  const random = new SeededRandom(1);
  const server = new InProcessApiServer({ clock, random });
  const user = server.client("user");
  const client = server.client("controller");
  const listed: KubeObject[] = [];
  const seen = new Proxy(client, {
    get: (target, key) => {
      if (key !== "list") return Reflect.get(target, key).bind(target);
      return async (...args: Parameters<typeof client.list>) => {
        const answer = await target.list(...args);
        listed.push(...answer.items);
        return answer;
      };
    },
  });
  await user.create(podResource, podOf("early-web", { app: "web" }));
  await user.create(podResource, podOf("early-plain"));
  await user.create(podResource, podOf("early-launcher", { [app]: "virt-launcher" }));
  const ends = new AbortController();
  const feeds = new CacheFeeds({ client: seen, clock, random });
  const { pods } = new SharedCaches(feeds, names());
  const running = feeds.run({ signal: ends.signal });
  await clock.pass(1_000);
  await user.create(podResource, podOf("late-web", { app: "web" }));
  await user.create(podResource, podOf("late-attachment", { [app]: "hotplug-disk" }));
  await clock.pass(1_000);
  const listing = pods.list();
  const kept = listing.state === "complete" ? listing.objects : [];
  const nameOf = ({ metadata }: KubeObject) => metadata.name;
  expect(kept.map(nameOf).toSorted()).toEqual(["early-launcher", "late-attachment"]);
  expect(listed.map(nameOf)).toEqual(["early-launcher"]);
  ends.abort();
  await clock.pass(0);
  await running;
});
