import { expect, test } from "vitest";
import { isDuration } from "./duration.ts";

test.each(["0", "1h", "-1.5h", "1h30m2.5s", "100ms", "7us", "7µs", ".5s", "1.s", "+3ns"])(
  "%s is a duration",
  (text) => {
    expect(isDuration(text)).toBe(true);
  },
);

test.each(["", "1", "h", "1d", "1 h", "1h ", "--1h", ".s", "1h30", "9".repeat(100_000)])(
  "%j is none",
  (text) => {
    expect(isDuration(text)).toBe(false);
  },
);
