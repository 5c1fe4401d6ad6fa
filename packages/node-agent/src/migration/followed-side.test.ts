import { ManualClock } from "@virtkit/api/clock";
import { silentLog } from "@virtkit/api/observe";
import { LauncherError } from "@virtkit/launcher/client";
import { expect, test } from "vitest";
import type { MovingClient } from "../service/node-host.ts";
import { FollowedSide, type FollowedSideOptions } from "./followed-side.ts";

/** What an agent makes of a launcher that refuses to report. */
async function wordAfter(error: Error): Promise<unknown> {
  const side = new FollowedSide({
    ...{ migrationUID: "m-1", holder: {}, store: {}, random: {} },
    ...{ clock: new ManualClock(), log: silentLog, onNews: () => {} },
  } as unknown as FollowedSideOptions);
  const followMigration = async (): Promise<never> => {
    throw error;
  };
  return await side.look({ followMigration } as unknown as MovingClient);
}

test("a launcher has begun nothing only if it says that it does not know this migration", async () => {
  const unknown = new LauncherError("LAUNCHER_ARGUMENT", "not here", { path: "migrationUID" });
  expect(await wordAfter(unknown)).toBe("unbegun");
  expect(await wordAfter(new LauncherError("LAUNCHER_VERB", "what?"))).toBe("unbegun");
});

test("a launcher that does not understand the request may have a copy: nothing is known", async () => {
  const malformed = new LauncherError("LAUNCHER_ARGUMENT", "args.after: found a list", {
    path: "args.after",
  });
  expect(await wordAfter(malformed)).toBeUndefined();
});
