import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  commandOf,
  createSurroundings,
  descendants,
  syncRequest,
  until,
  vmiOf,
} from "../testing/launcher-fixture.ts";

test("x", async () => {
  await using place = await createSurroundings();
  const launcher = await place.start();
  const client = await launcher.connect();
  expect(await client.info()).toMatchObject({ versions: [1], vmi: vmiOf, servedNetworks: [] });
  expect(await client.status()).toMatchObject({ state: "Absent" });
  console.log(
    await client.syncVmi(syncRequest()).catch((e) => {
      console.log(launcher.log());
      throw e;
    }),
  );
  const rss = () =>
    readFileSync(`/proc/${launcher.pid}/status`, "utf8").match(/(VmRSS|RssAnon|RssFile):\s+\d+/g);
  console.log(rss());
  await until("agent", async () =>
    client.guestPing({ timeoutSeconds: 5 }).then(
      () => true,
      () => undefined,
    ),
  );
  console.log(
    rss(),
    await client.exec({ command: "/bin/sh", args: ["-c", "uname -a"] }),
    await client.stats(),
  );
  for (const pid of descendants(launcher.pid)) console.log(pid, commandOf(pid).slice(0, 100));
  console.log(rss());
  launcher.signal("SIGTERM");
  console.log(
    await launcher.exit,
    launcher
      .log()
      .split("\n")
      .filter((l) => l.startsWith("{"))
      .join("\n"),
  );
  console.log(readFileSync(place.terminationLog, "utf8"));
  await client.closed;
});
