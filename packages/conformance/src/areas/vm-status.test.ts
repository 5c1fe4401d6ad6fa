import { expect, test } from "vitest";
import { functions } from "./vm-status.ts";

const vm = { metadata: { name: "vm" }, spec: { runStrategy: "Manual" } };

test.each(["", " ", "null", "{}", '{"paused":true}', "{paused: true}", "paused: true", "other: 1"])(
  "accepts a start request with the body %j",
  (body) => {
    const answer = functions["subresource"]?.({ verb: "start", vm, body }, {});
    expect(answer).toMatchObject({ code: 202 });
  },
);

test.each(["{bad", "[]", "text", '{"paused":1}', "dryRun: All"])(
  "refuses a start request with the body %j",
  (body) => {
    const answer = functions["subresource"]?.({ verb: "start", vm, body }, {});
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest", actions: [] });
  },
);
