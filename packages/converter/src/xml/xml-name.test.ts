import { expect, test } from "vitest";
import { isXmlName } from "./xml-name.ts";

test.each(["a", "_", "qemu:arg", "hint-dedicated", "größe", "日本", "x.1", "𐀀"])(
  "%j is a name",
  (name) => {
    expect(isXmlName(name)).toBe(true);
  },
);

test.each(["", "1a", "a b", "a:b:c", ":a", "a:", "-a", "a>", "a\n", "\ud800", "×"])(
  "%j is not a name",
  (name) => {
    expect(isXmlName(name)).toBe(false);
  },
);
