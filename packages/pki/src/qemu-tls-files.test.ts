import { expect, it } from "vitest";
import { qemuTlsFiles } from "./qemu-tls-files.ts";

const credentials = { certificate: "CERT", privateKey: "KEY", authorities: "CA" };

it.each([
  ["target", "server"],
  ["source", "client"],
] as const)("a %s shows its certificate as QEMU's %s", (side, end) => {
  expect(qemuTlsFiles(credentials, side)).toEqual([
    { name: "ca-cert.pem", content: "CA" },
    { name: `${end}-cert.pem`, content: "CERT" },
    { name: `${end}-key.pem`, content: "KEY" },
  ]);
});
