import { expect, test } from "vitest";
import { createSurroundings, vmiOf } from "../testing/launcher-fixture.ts";

test("a launcher gets ready, answers, and ends when it is told to", async () => {
  await using place = await createSurroundings();
  const launcher = await place.start();
  const client = await launcher.connect();
  expect(await client.info()).toMatchObject({ versions: [1], vmi: vmiOf, servedNetworks: [] });
  expect(await client.status()).toMatchObject({ state: "Absent" });
  launcher.signal("SIGTERM");
  expect(await launcher.exit).toBe(0);
  await client.closed;
});
