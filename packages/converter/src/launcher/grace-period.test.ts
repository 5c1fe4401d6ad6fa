import { expect, test } from "vitest";
import { smallVmi } from "../testing/conversion.ts";
import { gracePeriodSeconds } from "./grace-period.ts";

test("a guest has 30 seconds by default", () => {
  expect(gracePeriodSeconds(smallVmi())).toBe(30);
  expect(gracePeriodSeconds(smallVmi({ spec: { terminationGracePeriodSeconds: 0 } }))).toBe(0);
});
