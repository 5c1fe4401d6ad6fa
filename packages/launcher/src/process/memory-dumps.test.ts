import { DomainManagerError } from "@virtkit/domain-manager";
import { expect, test } from "vitest";
import { servedGuest } from "../testing/channel-fixture.ts";
import { MemoryGuest } from "../testing/memory-guest.ts";
import { LauncherGuest } from "./launcher-guest.ts";
import { MemoryDumps } from "./memory-dumps.ts";

/** Dumps that end when a test says so. */
function dumpsByHand() {
  const begun: string[] = [];
  let end = (_?: Error): void => {};
  const dumps = new MemoryDumps((path) => {
    begun.push(path);
    return new Promise((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve());
    });
  });
  return { dumps, begun, end: (error?: Error) => end(error) };
}

test("a request for the file that is being written joins the dump, although the first caller has gone", async () => {
  const { dumps, begun, end } = dumpsByHand();
  const first = new AbortController();
  const abandoned = dumps.dump("/a", first.signal);
  first.abort();
  await expect(abandoned).rejects.toMatchObject({ code: "DOMAIN_TIMEOUT" });
  const second = dumps.dump("/a", new AbortController().signal);
  const third = dumps.dump("/a");
  end();
  await expect(Promise.all([second, third])).resolves.toHaveLength(2);
  expect(begun).toEqual(["/a"]);
});

test("the outcome of a dump that nobody waited for is what the next request for its file gets", async () => {
  for (const failure of [undefined, new DomainManagerError("DOMAIN_LIBVIRT", "no space left")]) {
    const { dumps, begun, end } = dumpsByHand();
    const first = new AbortController();
    const abandoned = dumps.dump("/a", first.signal);
    first.abort();
    await expect(abandoned).rejects.toThrow("the caller gave up");
    end(failure);
    const again = dumps.dump("/a");
    if (failure) await expect(again).rejects.toBe(failure);
    else await again;
    expect(begun).toEqual(["/a"]);
  }
});

test("a dump to another file waits for its turn, and does not begin if its caller has gone by then", async () => {
  const { dumps, begun, end } = dumpsByHand();
  const gone = new AbortController();
  const first = dumps.dump("/a");
  const second = dumps.dump("/b", gone.signal);
  const third = dumps.dump("/c");
  gone.abort();
  await expect(second).rejects.toMatchObject({ code: "DOMAIN_TIMEOUT" });
  expect(begun).toEqual(["/a"]);
  end(new Error("no space left"));
  await expect(first).rejects.toThrow("no space left");
  await expect.poll(() => begun).toEqual(["/a", "/c"]);
  end();
  await third;
});

test("a client that connects after another has left during a dump joins it", async () => {
  const control = new MemoryGuest();
  let isAborted = false;
  let end = (): void => {};
  control.before = async (_, options) => {
    options?.signal?.addEventListener("abort", () => {
      isAborted = true;
    });
    await new Promise<void>((resolve) => {
      end = resolve;
    });
  };
  const guest = new LauncherGuest(control, { uid: "vmi-1" });
  const { client: first } = await servedGuest({ control: guest });
  const { client: second } = await servedGuest({ control: guest });
  const abandoned = first.memoryDump({ path: "/a" });
  await expect.poll(() => control.calls).toHaveLength(1);
  await first.close();
  await expect(abandoned).rejects.toMatchObject({ code: "LAUNCHER_CLOSED" });
  const joined = second.memoryDump({ path: "/a" });
  await second.ping();
  end();
  await joined;
  expect([control.calls.map(({ verb }) => verb), isAborted]).toEqual([["memoryDump"], false]);
});
