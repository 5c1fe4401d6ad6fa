import { closeSync, fstatSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { OwnedFd } from "./owned-fd.ts";

const open = (): OwnedFd => new OwnedFd(openSync("/dev/null", "r"), "null");

test("closes at the end of its block", () => {
  let number = -1;
  {
    using owned = open();
    number = owned.fd;
    fstatSync(number);
  }
  expect(() => fstatSync(number)).toThrow(/EBADF/);
});

test("throws after it is closed instead of touching another descriptor", () => {
  const owned = open();
  owned.close();
  owned.close();
  expect(owned.closed).toBe(true);
  expect(() => owned.fd).toThrow(expect.objectContaining({ code: "HOST_CLOSED", path: "null" }));
});

test("does not close a descriptor that was given away", () => {
  const owned = open();
  const fd = owned.release();
  owned.close();
  expect(fstatSync(fd).isCharacterDevice()).toBe(true);
  closeSync(fd);
});
