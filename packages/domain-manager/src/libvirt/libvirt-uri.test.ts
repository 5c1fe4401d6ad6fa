import { expect, test } from "vitest";
import { parseLibvirtUri } from "./libvirt-uri.ts";

const environment = { env: { XDG_RUNTIME_DIR: "/run/user/7" }, uid: 7, home: "/home/u" };

test.each([
  [
    "qemu:///system",
    "qemu:///system",
    { transport: "unix", paths: ["/run/libvirt/virtqemud-sock", "/run/libvirt/libvirt-sock"] },
  ],
  [
    "qemu:///session",
    "qemu:///session",
    {
      transport: "unix",
      paths: ["/run/user/7/libvirt/virtqemud-sock", "/run/user/7/libvirt/libvirt-sock"],
    },
  ],
  [
    "qemu+unix:///session?socket=/a/b%20c",
    "qemu:///session",
    { transport: "unix", paths: ["/a/b c"] },
  ],
  ["test+unix:///default?socket=/s", "test:///default", { transport: "unix", paths: ["/s"] }],
  ["qemu+tcp://h/system", "qemu:///system", { transport: "tcp", host: "h", port: 16509 }],
  ["qemu+tcp://[::1]:7/system", "qemu:///system", { transport: "tcp", host: "::1", port: 7 }],
  [
    "qemu://h:1/system?no_verify=1&keepalive=2",
    "qemu:///system?keepalive=2",
    {
      transport: "tls",
      host: "h",
      port: 1,
      verify: false,
      files: {
        ca: "/home/u/.pki/libvirt/cacert.pem",
        certificate: "/home/u/.pki/libvirt/clientcert.pem",
        key: "/home/u/.pki/libvirt/clientkey.pem",
      },
    },
  ],
])("%s", (uri, name, endpoint) => {
  expect(parseLibvirtUri(uri, environment)).toEqual({ name, endpoint });
});

test("finds root's certificates below /etc/pki; pkipath names another folder", () => {
  const root = { ...environment, uid: 0 };
  expect(parseLibvirtUri("qemu://h/system", root).endpoint).toMatchObject({
    verify: true,
    files: { key: "/etc/pki/libvirt/private/clientkey.pem" },
  });
  expect(parseLibvirtUri("qemu://h/system?pkipath=/p", root).endpoint).toMatchObject({
    files: { ca: "/p/cacert.pem" },
  });
});

test.each(["", "qemu", "qemu:/system", "qemu+ssh://h/system", "qemu://h:99999/system"])(
  "rejects %j",
  (uri) => {
    expect(() => parseLibvirtUri(uri, environment)).toThrow(
      expect.objectContaining({ code: "LIBVIRT_ARGUMENT", path: "uri" }),
    );
  },
);
