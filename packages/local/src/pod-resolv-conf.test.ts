import { expect, test } from "vitest";
import { podResolvConf } from "./pod-resolv-conf.ts";

test("uses an outside name server for the Pod as well", () => {
  const text = "search example.org\nnameserver 192.0.2.53\n";
  expect(podResolvConf([text, ""], ["198.51.100.1"])).toBe(text);
});

test("if the host asks itself, the Pod asks the servers of systemd-resolved", () => {
  const texts = ["nameserver 127.0.0.53\noptions edns0\n", "nameserver 192.0.2.53\n"];
  expect(podResolvConf(texts, [])).toBe("nameserver 192.0.2.53\n");
});

test("leaves out servers on addresses of the host, and keeps the others", () => {
  const text = "nameserver 198.51.100.1\nnameserver ::1\nnameserver 192.0.2.53\n";
  expect(podResolvConf([text], ["198.51.100.1"])).toBe("nameserver 192.0.2.53\n");
  expect(podResolvConf([text], [])).toBe("nameserver 198.51.100.1\nnameserver 192.0.2.53\n");
});

test("names no server if there is none", () => {
  expect(podResolvConf(["search a\nnameserver 127.0.0.1\n", ""], [])).toBe("search a\n");
  expect(podResolvConf([], [])).toBe("");
});
