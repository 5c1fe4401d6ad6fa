import { expect, test } from "vitest";
import { parsePublish, publishText } from "./parse-publish.ts";

test.each([
  ["2222:22", { protocol: "tcp", host: 2222, guest: 22 }, "localhost:2222 -> guest 22/tcp"],
  [
    "127.0.0.1:80:8080",
    { protocol: "tcp", address: "127.0.0.1", host: 80, guest: 8080 },
    "127.0.0.1:80 -> guest 8080/tcp",
  ],
  ["53:53/udp", { protocol: "udp", host: 53, guest: 53 }, "localhost:53 -> guest 53/udp"],
] as const)("%s", (text, port, shown) => {
  expect(parsePublish(text)).toEqual(port);
  expect(publishText(parsePublish(text))).toBe(shown);
});

test.each(["", "22", "0:22", "22:65536", "a:b", "1:2/sctp", "1:2:3", "1:2;drop"])(
  "%j is refused with an example",
  (text) => {
    expect(() => parsePublish(text)).toThrow("2222:22");
  },
);
