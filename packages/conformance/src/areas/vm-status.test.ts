import { expect, test } from "vitest";
import { functions } from "./vm-status.ts";

const vm = { metadata: { name: "vm" }, spec: { runStrategy: "Manual" } };

test.each(["", " ", "null", "{}", '{"paused":true}', "{paused: true}", "paused: true", "other: 1"])(
  "a request to start with the body %j is granted",
  (body) => {
    const answer = functions["subresource"]?.({ verb: "start", vm, body }, {});
    expect(answer).toMatchObject({ code: 202 });
  },
);

test.each(["{bad", "[]", "text", '{"paused":1}', "dryRun: All"])(
  "a request to start with the body %j is refused",
  (body) => {
    const answer = functions["subresource"]?.({ verb: "start", vm, body }, {});
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest", actions: [] });
  },
);
