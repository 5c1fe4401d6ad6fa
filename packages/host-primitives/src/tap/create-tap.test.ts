import { expect, test } from "vitest";
import { checkTapSpec, tapInterfaceFlags } from "./create-tap.ts";

test("sets the flags that QEMU expects", () => {
  expect(tapInterfaceFlags({ name: "tap0" })).toBe(0x5002);
  expect(tapInterfaceFlags({ name: "tap0", queues: 4 })).toBe(0x5102);
  expect(tapInterfaceFlags({ name: "tap0", vnetHeader: false })).toBe(0x1002);
});

test.each(["", "a/b", "..", "x".repeat(16), "a b", "a:0", "ä", "a\0"])(
  "rejects %j as an interface name",
  (name) => {
    expect(() => checkTapSpec({ name })).toThrow(expect.objectContaining({ path: "name" }));
  },
);

test.each([{ queues: 0 }, { queues: 257 }, { mtu: 67 }, { owner: -1 }, { group: 1.5 }])(
  "rejects %j",
  (changes) => {
    expect(() => checkTapSpec({ name: "tap0", ...changes })).toThrow(
      expect.objectContaining({ path: Object.keys(changes)[0] }),
    );
  },
);
