import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const at = "spec.volumes[0]";
/** A VMI whose only volume is the given one. */
const one = (source: Change): Change => ({
  volumes: [{ name: "root", ...source }],
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const long = "x".repeat(2049);

test.each<[Change, string[]]>([
  [{ userData: "#!/bin/sh" }, []],
  [{ networkData: "version: 2" }, []],
  [{ secretRef: { name: "s" }, networkDataSecretRef: { name: "s" } }, []],
  [{ userDataBase64: base64("x".repeat(2048)) }, []],
  [{}, [""]],
  [{ secretRef: { name: "" } }, [""]],
  [{ userDataBase64: "!" }, [".userDataBase64"]],
  [{ networkDataBase64: "abc" }, [".networkDataBase64"]],
  [{ userData: "a", secretRef: { name: "s" } }, [""]],
  [{ networkData: "a", networkDataBase64: base64("a") }, [""]],
  [{ userData: long }, [""]],
  [{ userDataBase64: base64(long) }, [""]],
  [{ networkData: "é".repeat(1025) }, [""]],
])("cloud-init %j: %j", (data, fields) => {
  for (const kind of ["cloudInitNoCloud", "cloudInitConfigDrive"]) {
    const expected = fields.map((field) => `Invalid ${at}.${kind}${field}`);
    expect(verdict(one({ [kind]: data }))).toEqual(expected);
  }
});
