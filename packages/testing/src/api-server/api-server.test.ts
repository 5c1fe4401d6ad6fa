import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { InProcessApiServer } from "./api-server.ts";
import { streamingChecks } from "./testing/read-checks.ts";
import { definitions, namespaces, widgetDefinition } from "./testing/server-check.ts";
import { serverChecks } from "./testing/server-checks.ts";

describe("the API server in this process", () => {
  test.each([...serverChecks, ...streamingChecks])("$name", async ({ check }) => {
    const server = new InProcessApiServer();
    const client = server.client();
    await client.create(definitions, widgetDefinition);
    await client.create(namespaces, { metadata: { name: "check" } });
    await check({ client, namespace: "check" });
  });

  test("objects are handed out frozen", async () => {
    const client = new InProcessApiServer().client();
    const made = await client.create(namespaces, { metadata: { name: "a" } });
    assert.throws(() => Object.assign(made.metadata, { name: "b" }), TypeError);
    assert.throws(() => Object.assign(Object(made.metadata.labels), { x: "y" }), TypeError);
  });
});
