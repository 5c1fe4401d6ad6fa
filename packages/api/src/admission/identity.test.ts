import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const account = (serviceAccountName: string): Change => ({
  volumes: [
    { name: "root", containerDisk: { image: "i" } },
    { name: "sa", serviceAccount: { serviceAccountName } },
  ],
  domain: { devices: { disks: [{ name: "root" }, { name: "sa" }] } },
});

test.each<[Change, string[]]>([
  [{ hostname: "web-1" }, []],
  [{ hostname: "" }, []],
  [{ hostname: "Web" }, ["Invalid spec.hostname"]],
  [{ hostname: "a.b" }, ["Invalid spec.hostname"]],
  [{ hostname: `${"a".repeat(64)}!` }, ["Invalid spec.hostname"]],
  [{ subdomain: "a.b" }, []],
  [{ subdomain: "a_b" }, ["Invalid spec.subdomain"]],
  [{ serviceAccountName: "robot.1" }, []],
  [{ serviceAccountName: "Robot" }, ["Invalid spec.serviceAccountName"]],
  [{ ...account("robot"), serviceAccountName: "robot" }, []],
  [{ ...account("robot"), serviceAccountName: "other" }, ["Invalid spec.serviceAccountName"]],
  [account("robot"), []],
])("%j: %j", (change, expected) => {
  expect(verdict(change)).toEqual(expected);
});
