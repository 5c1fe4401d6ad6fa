import { closeSync, fstatSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { OwnedFd } from "./owned-fd.ts";

const open = (): OwnedFd => new OwnedFd(openSync("/dev/null", "r"), "null");

test("a block that ends closes it", () => {
  let number = -1;
  {
    using owned = open();
    number = owned.fd;
    fstatSync(number);
  }
  expect(() => fstatSync(number)).toThrow(/EBADF/);
});

test("after the end it is an error, not somebody else's descriptor", () => {
  const owned = open();
  owned.close();
  owned.close();
  expect(owned.closed).toBe(true);
  expect(() => owned.fd).toThrow(expect.objectContaining({ code: "HOST_CLOSED", path: "null" }));
});

test("a descriptor that was given away is not closed", () => {
  const owned = open();
  const fd = owned.release();
  owned.close();
  expect(fstatSync(fd).isCharacterDevice()).toBe(true);
  closeSync(fd);
});
