import { expect, test } from "vitest";
import { connectVsock, encodeVsockAddress } from "./connect-vsock.ts";
import { listenVsock } from "./listen-vsock.ts";

test("a VSOCK address has the family, the port, the CID and no flags", () => {
  expect(encodeVsockAddress({ cid: 3, port: 22 }).toString("hex")).toBe(
    "28000000160000000300000000000000",
  );
  expect(encodeVsockAddress({ cid: 0xffff_fffe, port: 0x0102_0304 }).toString("hex")).toBe(
    "2800000004030201feffffff00000000",
  );
});

test.each([
  ["cid", { cid: -1, port: 1 }],
  ["cid", { cid: 0xffff_ffff, port: 1 }],
  ["cid", { cid: 3.5, port: 1 }],
  ["port", { cid: 3, port: 0xffff_ffff }],
  ["port", { cid: 3, port: Number.NaN }],
])("an invalid %s is refused before a socket is opened: %j", async (path, address) => {
  const refused = { code: "HOST_ARGUMENT_INVALID", path };
  await expect(connectVsock(address)).rejects.toMatchObject(refused);
  expect(() => listenVsock(address)).toThrow(expect.objectContaining(refused));
});

test("one who has given up already does not connect", async () => {
  const signal = AbortSignal.abort(new Error("no longer wanted"));
  await expect(connectVsock({ cid: 3, port: 1 }, { signal })).rejects.toThrow("no longer wanted");
});
