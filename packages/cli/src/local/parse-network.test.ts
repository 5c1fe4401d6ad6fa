import { expect, test } from "vitest";
import { parseNetwork } from "./parse-network.ts";

test("a guest is isolated by default", () => {
  expect(parseNetwork(undefined)).toBe("isolated");
  expect(parseNetwork("open")).toBe("open");
});

test("anything else is refused with what there is", () => {
  expect(() => parseNetwork("host")).toThrow("--network host: use isolated or open");
});
