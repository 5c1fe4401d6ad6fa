import { ManualClock, sleep } from "@virtkit/api/clock";
import { expect, test } from "vitest";
import { Cache } from "../cache/cache.ts";
import { KubeError } from "../client/kube-error.ts";
import { defineResource } from "../client/resource.ts";
import { Expectations } from "./expectations.ts";

const key = "default/a";
const made = (uid: string) => async () => ({ metadata: { name: `pod-${uid}`, uid } });
const setUp = () => {
  const clock = new ManualClock();
  return { clock, expectations: new Expectations({ clock, expiry: 60_000 }) };
};

test("waits for a creation until the watch shows that same object", async () => {
  const { expectations } = setUp();
  expect(expectations.isSatisfied(key)).toBe(true);
  await expectations.create(key, made("1"));
  expectations.sawCreated(key, "of somebody else");
  expectations.sawCreated("default/other", "1");
  expect(expectations.isSatisfied(key)).toBe(false);
  expectations.sawCreated(key, "1");
  expect(expectations.isSatisfied(key)).toBe(true);
});

test("does not miss a watch event that arrives before the answer", async () => {
  const { expectations, clock } = setUp();
  const creating = expectations.create(key, async () => {
    await sleep(clock, 1_000);
    return { metadata: { uid: "1" } };
  });
  await clock.pass(500);
  expectations.sawCreated(key, "1");
  expect(expectations.isSatisfied(key)).toBe(false);
  await clock.pass(500);
  await creating;
  expect(expectations.isSatisfied(key)).toBe(true);
});

test("does not wait after a rejection; without an answer it waits until the expectation expires", async () => {
  const { expectations, clock } = setUp();
  const fail = (error: KubeError) => async () => {
    throw error;
  };
  const refused = new KubeError("KUBE_STATUS", "quota", { status: 403, reason: "Forbidden" });
  await expect(expectations.create(key, fail(refused))).rejects.toBe(refused);
  await expect(expectations.delete(key, "1", fail(refused))).rejects.toBe(refused);
  expect(expectations.isSatisfied(key)).toBe(true);
  const silence = new KubeError("KUBE_TIMEOUT", "no answer");
  await expect(expectations.create(key, fail(silence))).rejects.toBe(silence);
  await clock.pass(20_000);
  expect(expectations.expiresIn(key)).toBe(40_000);
  await clock.pass(40_000);
  expect(expectations.isSatisfied(key)).toBe(true);
});

test("waits for a deletion by UID, so another object with that name does not count", async () => {
  const { expectations } = setUp();
  await expectations.delete(key, "1", async () => {});
  expectations.sawDeleted(key, "2");
  expect(expectations.isSatisfied(key)).toBe(false);
  expectations.sawDeleted(key, "1");
  expect(expectations.isSatisfied(key)).toBe(true);
});

test("does not wait for an object that was created and deleted before anybody saw it", async () => {
  const { expectations } = setUp();
  await expectations.create(key, made("1"));
  expectations.sawDeleted(key, "1");
  expect(expectations.isSatisfied(key)).toBe(true);
});

test("sees what a cache sees, and counts an object being deleted as gone", async () => {
  const { expectations } = setUp();
  const cache = new Cache(defineResource({ version: "v1", plural: "pods", kind: "Pod" }));
  expectations.follow(cache, () => [{ namespace: "default", name: "a" }]);
  const pod = (resourceVersion: string, more = {}) => ({
    metadata: { name: "p", namespace: "default", uid: "1", resourceVersion, ...more },
  });
  await expectations.create(key, made("1"));
  cache.handle({ type: "apply", object: pod("1") });
  expect(expectations.isSatisfied(key)).toBe(true);
  await expectations.delete(key, "1", async () => {});
  cache.handle({ type: "apply", object: pod("2") });
  expect(expectations.isSatisfied(key)).toBe(false);
  cache.handle({ type: "apply", object: pod("3", { deletionTimestamp: "2026-01-01T00:00:00Z" }) });
  expect(expectations.isSatisfied(key)).toBe(true);
});

/** A controller that wants one Pod and looks into a cache that lags by a second. */
async function podsAfterThreeLooks(expectations: Expectations | undefined): Promise<number> {
  const clock = new ManualClock();
  const server: string[] = [];
  const cache = new Set<string>();
  const reconcile = async (): Promise<void> => {
    if (cache.size > 0 || expectations?.isSatisfied(key) === false) return;
    const uid = String(server.length);
    const send = async () => {
      server.push(uid);
      clock.setTimeout(() => {
        cache.add(uid);
        expectations?.sawCreated(key, uid);
      }, 1_000);
      return { metadata: { uid } };
    };
    await (expectations ? expectations.create(key, send) : send());
  };
  for (let look = 0; look < 3; look++) {
    await reconcile();
    await clock.pass(400);
  }
  return server.length;
}

test("creates one Pod with a lagging cache; control: without expectations, several", async () => {
  expect(await podsAfterThreeLooks(new Expectations({ clock: new ManualClock() }))).toBe(1);
  expect(await podsAfterThreeLooks(undefined)).toBe(3);
});
