import { describe, expect, test } from "vitest";
import { convert } from "./convert.ts";
import { type ConverterError, isConverterError } from "./converter-error.ts";
import type { DomainHook } from "./hooks.ts";
import type { Domain } from "./model/domain.ts";
import { smallContext, smallVmi } from "./testing/conversion.ts";
import { toXml } from "./xml/to-xml.ts";

function convertWith(...hooks: DomainHook[]): Domain {
  return convert(smallVmi(), smallContext(), { hooks });
}

function failureOf(apply: (domain: Domain) => unknown): ConverterError {
  try {
    convertWith({ name: "bad", apply: apply as DomainHook["apply"] });
  } catch (error) {
    if (isConverterError(error)) return error;
    throw error;
  }
  throw new Error("the hook was accepted");
}

describe("hooks", () => {
  test("edit the finished domain, each the result of the previous one", () => {
    const append = (text: string): DomainHook => ({
      name: text,
      apply: (domain) => ({ ...domain, name: domain.name + text }),
    });
    expect(convertWith(append("-a"), append("-b")).name).toBe("ns_vm-a-b");
  });

  test("see the VMI, and may change the domain in place", () => {
    const hook: DomainHook = {
      name: "uuid",
      apply: (domain, vmi) => {
        domain.uuid = vmi.metadata?.uid;
        return domain;
      },
    };
    expect(convertWith(hook).uuid).toBe("u1");
  });

  test("see the VMI as it was given, not a copy of another shape", () => {
    const given = smallVmi();
    const seen: unknown[] = [];
    const hook: DomainHook = {
      name: "look",
      apply: (domain, vmi) => {
        seen.push(vmi);
        return domain;
      },
    };
    convert(given, smallContext(), { hooks: [hook] });
    expect(seen[0]).toBe(given);
  });

  test("may add what the model does not know", () => {
    const hook: DomainHook = {
      name: "perf",
      apply: (domain) => ({ ...domain, extra: { children: [{ name: "perf" }] } }),
    };
    expect(toXml(convertWith(hook))).toContain("\n  <perf/>\n</domain>");
  });

  test("that throw are named, with the error as the cause", () => {
    const cause = new Error("no luck");
    const error = failureOf(() => {
      throw cause;
    });
    expect(error).toMatchObject({ code: "CONVERTER_HOOK_FAILED", cause });
    expect(error.message).toBe('hook "bad": failed: no luck');
  });

  test.each<[string, (domain: Domain) => unknown]>([
    ["it is undefined", () => undefined],
    ["type is missing", async (domain) => domain],
    ["devices is missing", (domain) => ({ ...domain, devices: undefined })],
    ["memory.unit must be a string", (domain) => ({ ...domain, memory: { unit: {}, value: 1 } })],
    ["devices.disks must be a list", (domain) => ({ ...domain, devices: { disks: {} } })],
    ["devices.disk is not in the model", (domain) => ({ ...domain, devices: { disk: [] } })],
    ["U+0000", (domain) => ({ ...domain, name: "\u0000" })],
    ["cannot be read", (domain) => ({ ...domain, extra: { children: 5 } })],
    [
      "nested too deeply",
      (domain) => {
        const extra: { children: unknown[] } = { children: [] };
        extra.children.push(extra);
        return { ...domain, extra };
      },
    ],
  ])("that do not return a domain are named, with the place: %s", (message, apply) => {
    const error = failureOf(apply);
    expect(error.code).toBe("CONVERTER_HOOK_FAILED");
    expect(error.message).toContain('hook "bad"');
    expect(error.message).toContain(message);
  });
});
