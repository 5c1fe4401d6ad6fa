import { expect, test } from "vitest";
import { podResolvConf } from "./pod-resolv-conf.ts";

test("a name server of the outside is the Pod's as well", () => {
  const text = "search example.org\nnameserver 192.0.2.53\n";
  expect(podResolvConf([text, ""], ["198.51.100.1"])).toBe(text);
});

test("where the host asks itself, the Pod asks whom systemd-resolved asks", () => {
  const texts = ["nameserver 127.0.0.53\noptions edns0\n", "nameserver 192.0.2.53\n"];
  expect(podResolvConf(texts, [])).toBe("nameserver 192.0.2.53\n");
});

test("servers on addresses of the host are left out, and those beside them kept", () => {
  const text = "nameserver 198.51.100.1\nnameserver ::1\nnameserver 192.0.2.53\n";
  expect(podResolvConf([text], ["198.51.100.1"])).toBe("nameserver 192.0.2.53\n");
  expect(podResolvConf([text], [])).toBe("nameserver 198.51.100.1\nnameserver 192.0.2.53\n");
});

test("without any there is no server to name", () => {
  expect(podResolvConf(["search a\nnameserver 127.0.0.1\n", ""], [])).toBe("search a\n");
  expect(podResolvConf([], [])).toBe("");
});
