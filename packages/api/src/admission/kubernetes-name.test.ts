import { expect, test } from "vitest";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  isPortName,
  labelValueProblems,
  qualifiedNameProblems,
  utf8Length,
} from "./kubernetes-name.ts";

const long = (length: number): string => "a".repeat(length);

test.each<[(text: string) => readonly string[], string, number]>([
  [dnsLabelProblems, "a", 0],
  [dnsLabelProblems, "a-1", 0],
  [dnsLabelProblems, long(63), 0],
  [dnsLabelProblems, "", 1],
  [dnsLabelProblems, "-a", 1],
  [dnsLabelProblems, "a-", 1],
  [dnsLabelProblems, "A", 1],
  [dnsLabelProblems, "a.b", 1],
  [dnsLabelProblems, long(64), 1],
  [dnsLabelProblems, `${long(63)}A`, 2],
  [dnsLabelProblems, "é".repeat(32), 2],
  [dnsSubdomainProblems, "a.b-c.1", 0],
  [dnsSubdomainProblems, long(253), 0],
  [dnsSubdomainProblems, "a..b", 1],
  [dnsSubdomainProblems, "a.", 1],
  [dnsSubdomainProblems, long(254), 1],
  [dnsSubdomainProblems, `${long(253)}_`, 2],
  [qualifiedNameProblems, "Name_1.x-y", 0],
  [qualifiedNameProblems, "example.com/name", 0],
  [qualifiedNameProblems, "", 2],
  [qualifiedNameProblems, "/name", 1],
  [qualifiedNameProblems, "example.com/", 2],
  [qualifiedNameProblems, "a/b/c", 1],
  [qualifiedNameProblems, "UPPER/name", 1],
  [qualifiedNameProblems, long(64), 1],
  [qualifiedNameProblems, "-", 1],
  [labelValueProblems, "", 0],
  [labelValueProblems, "Value_1", 0],
  [labelValueProblems, "a b", 1],
  [labelValueProblems, `${long(64)}!`, 2],
])("%o finds as many faults in %j as Kubernetes: %i", (problems, text, count) => {
  expect(problems(text)).toHaveLength(count);
});

test.each([
  ["http", true],
  ["a1-b", true],
  ["", false],
  ["80", false],
  ["HTTP", false],
  ["a--b", false],
  ["-a", false],
  ["a-", false],
  ["abcdefghijklmnop", false],
])("%j as a port name: %s", (text, valid) => {
  expect(isPortName(text)).toBe(valid);
});

test("lengths are in UTF-8 octets", () => {
  for (const text of ["", "a", "é", "€", "🙂", "a🙂é"]) {
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
  }
});

test("refuses a name of megabytes quickly", () => {
  const huge = "a".repeat(3_000_000);
  expect(dnsLabelProblems(huge)).not.toHaveLength(0);
  expect(qualifiedNameProblems(`${huge}/${huge}`)).not.toHaveLength(0);
});
