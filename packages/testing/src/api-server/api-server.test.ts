import assert from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { InProcessApiServer } from "./api-server.ts";
import { callChannel } from "./recorded-client.ts";
import { streamingChecks } from "./testing/read-checks.ts";
import {
  definitions,
  namespaces,
  type ServerCheck,
  widgetDefinition,
} from "./testing/server-check.ts";
import { serverChecks } from "./testing/server-checks.ts";

const checks = [...serverChecks, ...streamingChecks];

async function play({ check }: ServerCheck): Promise<void> {
  const server = new InProcessApiServer();
  const client = server.client();
  await client.create(definitions, widgetDefinition);
  await client.create(namespaces, { metadata: { name: "check" } });
  await check({ client, namespace: "check" });
}

describe("the in-process API server", () => {
  test.each(checks)("$name", play);

  // Every other test of this repository fails if it makes a call that is not in this file: see
  // tools/check-recorded-calls.mjs. A check that is new adds to it with `vitest -u`.
  test("the checks make exactly the calls that the file lists", async () => {
    const made = new Set<string>();
    const listen = (features: unknown) => {
      for (const feature of features as readonly string[]) made.add(feature);
    };
    callChannel.subscribe(listen);
    try {
      for (const check of checks) await play(check);
    } finally {
      callChannel.unsubscribe(listen);
    }
    const lines = [...made].toSorted().map((line) => `${line}\n`);
    await expect(lines.join("")).toMatchFileSnapshot("./testing/checked-calls.txt");
  });

  test("returned objects are frozen", async () => {
    const client = new InProcessApiServer().client();
    const made = await client.create(namespaces, { metadata: { name: "a" } });
    assert.throws(() => Object.assign(made.metadata, { name: "b" }), TypeError);
    assert.throws(() => Object.assign(Object(made.metadata.labels), { x: "y" }), TypeError);
  });
});
