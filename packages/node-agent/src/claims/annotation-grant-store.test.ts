import { encodeGrant, freeGrant, type Holder } from "@virtkit/api/grant";
import { MayRun } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { type AnnotatedObject, AnnotationGrantStore } from "./annotation-grant-store.ts";

const name = "virtkit.io/run-grant";
const holder: Holder = {
  podUID: "pod",
  containerID: "containerd://1",
  node: "node",
  machineID: "machine",
  bootID: "boot",
  nonce: "nonce",
};
const granted = encodeGrant({ state: "Granted", vmiUID: "vmi", epoch: 3, seq: 5, podUID: "pod" });

/** One object, with the API server's rule: a patch lands only on the version that it names. */
class OneObject {
  object: AnnotatedObject | undefined;
  writes = 0;
  /** Runs before each patch: what others do meanwhile. */
  meanwhile: () => void = () => undefined;

  constructor(value: string | undefined) {
    const annotations = value === undefined ? {} : { [name]: value, other: "stays" };
    this.object = { metadata: { uid: "vmi", resourceVersion: "1", annotations } };
  }

  async get(): Promise<AnnotatedObject | undefined> {
    return this.object;
  }

  async patch({ metadata }: AnnotatedObject): Promise<boolean> {
    this.meanwhile();
    const now = this.object?.metadata;
    if (!now || now.uid !== metadata.uid || now.resourceVersion !== metadata.resourceVersion) {
      return false;
    }
    this.touch(metadata.annotations);
    return true;
  }

  touch(annotations: AnnotatedObject["metadata"]["annotations"] = {}): void {
    const now = this.object?.metadata;
    if (!now) return;
    this.writes++;
    const resourceVersion = String(Number(now.resourceVersion) + 1);
    const merged = { ...now.annotations, ...annotations };
    this.object = { metadata: { uid: now.uid, resourceVersion, annotations: merged } };
  }
}

test("the granted Pod claims with one write, and gets its claim again with none", async () => {
  const client = new OneObject(granted);
  const store = new AnnotationGrantStore(client, "vmi");
  const mayRun = await MayRun.claim(store, { holder });
  expect(mayRun.grant).toEqual({ vmiUid: "vmi", podUid: "pod", epoch: 3 });
  expect((await store.read()).grant).toMatchObject({ state: "Claimed", seq: 6, holder });
  expect(client.object?.metadata.annotations?.["other"]).toBe("stays");
  await MayRun.claim(store, { holder });
  expect(client.writes).toBe(1);
});

test("a write that finds another version is decided again", async () => {
  const client = new OneObject(granted);
  let times = 0;
  client.meanwhile = () => {
    if (times++ < 2) client.touch();
  };
  await MayRun.claim(new AnnotationGrantStore(client, "vmi"), { holder });
  expect(client.writes).toBe(3);
});

test("the loser of a race gets no proof", async () => {
  const client = new OneObject(granted);
  const other = { ...holder, containerID: "containerd://2", nonce: "other" };
  client.meanwhile = () => {
    client.meanwhile = () => undefined;
    const claim = { state: "Claimed", vmiUID: "vmi", epoch: 3, seq: 6, holder: other } as const;
    client.touch({ [name]: encodeGrant(claim) });
  };
  const store = new AnnotationGrantStore(client, "vmi");
  await expect(MayRun.claim(store, { holder })).rejects.toMatchObject({
    code: "DOMAIN_NOT_GRANTED",
  });
});

test.each([
  ["that is free", encodeGrant(freeGrant), "vmi"],
  ["that is absent", undefined, "vmi"],
  ["of another VMI", granted, "another"],
])("a grant %s gives no proof", async (_, value, uid) => {
  const client = new OneObject(value);
  const store = new AnnotationGrantStore(client, uid);
  await expect(MayRun.claim(store, { holder })).rejects.toMatchObject({
    code: "DOMAIN_NOT_GRANTED",
  });
  expect(client.writes).toBe(0);
});

test("a VMI that is gone is not written", async () => {
  const client = new OneObject(granted);
  const store = new AnnotationGrantStore(client, "vmi");
  const read = await store.read();
  client.object = undefined;
  expect((await store.read()).grant.state).toBe("Invalid");
  expect(await store.swap(read, { state: "Ended", vmiUID: "vmi", epoch: 3, seq: 6 })).toBe(false);
});

test("a store that does not answer gives no proof, and the claim is found the next time", async () => {
  const client = new OneObject(granted);
  const store = new AnnotationGrantStore(client, "vmi");
  const patch = client.patch.bind(client);
  client.patch = async (change) => {
    await patch(change);
    client.patch = patch;
    throw new Error("timed out");
  };
  await expect(MayRun.claim(store, { holder })).rejects.toThrow("timed out");
  expect((await MayRun.claim(store, { holder })).grant.epoch).toBe(3);
  expect(client.writes).toBe(1);
});
