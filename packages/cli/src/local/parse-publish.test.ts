import { expect, test } from "vitest";
import { exposureText, parsePublish, publishText } from "./parse-publish.ts";

test.each([
  ["2222:22", { protocol: "tcp", host: 2222, guest: 22 }, "localhost:2222 -> guest 22/tcp"],
  [
    "127.0.0.1:80:8080",
    { protocol: "tcp", address: "127.0.0.1", host: 80, guest: 8080 },
    "127.0.0.1:80 -> guest 8080/tcp",
  ],
  ["53:53/udp", { protocol: "udp", host: 53, guest: 53 }, "localhost:53 -> guest 53/udp"],
  [
    "[2001:db8::7]:80:8080",
    { protocol: "tcp", address: "2001:db8::7", host: 80, guest: 8080 },
    "[2001:db8::7]:80 -> guest 8080/tcp",
  ],
  [
    "[::]:53:53/udp",
    { protocol: "udp", address: "::", host: 53, guest: 53 },
    "[::]:53 -> guest 53/udp",
  ],
] as const)("%s", (text, port, shown) => {
  expect(parsePublish(text)).toEqual(port);
  expect(publishText(parsePublish(text))).toBe(shown);
});

test.each([
  ["2222:22", undefined],
  ["127.0.0.1:2222:22", undefined],
  ["[::1]:2222:22", undefined],
  ["0.0.0.0:2222:22", "open to everyone who can reach every IPv4 address of this host"],
  ["[::]:2222:22", "open to everyone who can reach every IPv6 address of this host"],
  ["192.0.2.7:2222:22", "open to everyone who can reach 192.0.2.7"],
])("says what %s opens to others: %s", (text, said) => {
  expect(exposureText(parsePublish(text))).toBe(said);
});

test.each([
  ...["", "22", "0:22", "22:65536", "a:b", "1:2/sctp", "1:2:3", "1:2;drop", ":1:2", "host:1:2"],
  ...["256.0.0.1:1:2", "::1:1:2", "[]:1:2", "[1.2.3.4]:1:2", "[fe80::1%eth0]:1:2", "[::1:1:2"],
])("refuses %j with an example", (text) => {
  expect(() => parsePublish(text)).toThrow("2222:22");
});
