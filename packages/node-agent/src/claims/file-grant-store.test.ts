import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeGrant, encodeGrant, freeGrant, type Grant } from "@virtkit/api/grant";
import { expect, onTestFinished, test } from "vitest";
import { FileGrantStore } from "./file-grant-store.ts";

const codec = { encode: encodeGrant, decode: (text: string) => decodeGrant(text, "vmi") };

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "virtkit-grant-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return join(path, "grant");
}

function granted(podUID: string, seq: number): Grant {
  return { state: "Granted", vmiUID: "vmi", epoch: 1, seq, podUID };
}

test("a swap replaces only the value that was read", async () => {
  const path = directory();
  const store = new FileGrantStore(path, { codec, empty: freeGrant });
  const first = await store.read();
  expect(first).toEqual({ grant: freeGrant, version: 0 });
  expect(await store.swap(first, granted("a", 1))).toBe(true);
  expect(await store.swap(first, granted("b", 1))).toBe(false);
  const second = await store.read();
  expect(second).toEqual({ grant: granted("a", 1), version: 1 });
  expect(await store.swap(second, granted("b", 2))).toBe(true);
  expect(await store.swap(second, granted("c", 2))).toBe(false);
  expect(await store.swap(first, granted("c", 1))).toBe(false);
  expect((await store.read()).grant).toEqual(granted("b", 2));
  expect(readdirSync(path)).toEqual(["2.json"]);
});

test("one of many swaps of the same value succeeds", async () => {
  const path = directory();
  const stores = Array.from(
    { length: 8 },
    () => new FileGrantStore(path, { codec, empty: freeGrant }),
  );
  for (let round = 0; round < 20; round++) {
    const reads = await Promise.all(stores.map((store) => store.read()));
    const swaps = await Promise.all(
      stores.map((store, index) =>
        store.swap(
          reads[index] ?? { grant: freeGrant, version: 0 },
          granted(`${index}`, round + 1),
        ),
      ),
    );
    expect(swaps.filter(Boolean)).toHaveLength(1);
  }
});

test("a swap of a value that was removed meanwhile fails and leaves nothing behind", async () => {
  const path = directory();
  const store = new FileGrantStore(path, { codec, empty: freeGrant });
  await store.swap(await store.read(), granted("a", 1));
  const read = await store.read();
  store.remove([1]);
  expect(await store.swap(read, granted("b", 2))).toBe(false);
  expect(readdirSync(path)).toEqual([]);
  store.removeEmpty();
});

test("the highest value counts if a crash left an older one, and an unreadable value is invalid", async () => {
  const path = directory();
  const store = new FileGrantStore(path, { codec, empty: freeGrant });
  await store.swap(await store.read(), granted("a", 1));
  writeFileSync(store.path(2), encodeGrant(granted("b", 2)));
  expect((await store.read()).grant).toEqual(granted("b", 2));
  writeFileSync(store.path(3), "{");
  expect((await store.read()).grant.state).toBe("Invalid");
});
