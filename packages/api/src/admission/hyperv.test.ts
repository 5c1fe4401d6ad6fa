import { expect, test } from "vitest";
import { type Change, domainVerdict } from "../testing/verdict.ts";

const on = { enabled: true };
const doubled = "Invalid spec.domain.features.hyperv.domain.features.hyperv";
const features = (hyperv: Change, rest: Change = {}): Change => ({ features: { hyperv }, ...rest });
const vmx = (policy: string): Change => ({ cpu: { features: [{ name: "vmx", policy }] } });

test.each<[Change, string[]]>([
  [features({ synic: on, vpindex: on, synictimer: on, ipi: on, tlbflush: on }), []],
  [features({ synic: on }), [`${doubled}.synic`]],
  [features({ synic: {} }), []],
  [features({ ipi: on, vpindex: {} }), [`${doubled}.ipi`]],
  [features({ tlbflush: on, vpindex: { enabled: false } }), [`${doubled}.tlbflush`]],
  [features({ synictimer: on }), [`${doubled}.synictimer`]],
  [features({ evmcs: on, vapic: on }, vmx("require")), []],
  [features({ evmcs: on }, vmx("require")), [`${doubled}.evmcs`]],
  [features({ evmcs: on, vapic: on }), ["Required spec.domain.cpu.features"]],
  [features({ evmcs: {} }), ["Required spec.domain.cpu.features"]],
  [features({ evmcs: { enabled: false } }), []],
  [features({ evmcs: {} }, vmx("optional")), ["Invalid spec.domain.cpu.features[0].policy"]],
  [features({ evmcs: {} }, { cpu: { features: [{ name: "apic" }] } }), []],
  [{ features: { hyperv: {}, hypervPassthrough: {} } }, ["Invalid spec.domain.features.hyperv"]],
  [{ features: { hypervPassthrough: {} } }, []],
])("%j: %j", (domain, expected) => {
  expect(domainVerdict(domain)).toEqual(expected);
});
