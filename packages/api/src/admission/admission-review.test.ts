import { expect, test } from "vitest";
import { type Change, cluster, instance, overlay } from "../testing/verdict.ts";
import { reviewAdmission, reviewMutation } from "./admission-review.ts";

const group = "kubevirt.io";

const review = (request: Change = {}): unknown => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: overlay(
    {
      uid: "1-2-3",
      operation: "CREATE",
      namespace: "here",
      resource: { group, version: "v1", resource: "virtualmachineinstances" },
      userInfo: { username: "u", groups: [] },
      object: instance(),
    },
    request,
  ),
});

test("an allowed review has the uid and nothing else", () => {
  expect(reviewAdmission(review(), cluster())).toEqual({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: "1-2-3", allowed: true },
  });
});

test("a refused review has the causes in Kubernetes' form", () => {
  const { response } = reviewAdmission(
    review({ object: instance({ hostname: "Web" }) }),
    cluster(),
  );
  expect(response).toMatchObject({
    uid: "1-2-3",
    allowed: false,
    status: {
      code: 422,
      reason: "Invalid",
      details: { causes: [{ reason: "FieldValueInvalid", field: "spec.hostname" }] },
    },
  });
});

test("lists ten causes and counts the others", () => {
  const inputs = Array.from({ length: 14 }, (_, i) => ({ name: `i${i}`, type: "mouse" }));
  const object = instance({ domain: { devices: { inputs } } });
  const { status } = reviewAdmission(review({ object }), cluster()).response;
  expect(status?.details?.causes).toHaveLength(10);
  expect(status?.message).toMatch(/; and 4 more$/);
});

test("a mutation has a base64 patch that produces the defaulted object", () => {
  const { response } = reviewMutation(review(), cluster(), { uuid: () => "ü" });
  expect(response).toMatchObject({ uid: "1-2-3", allowed: true, patchType: "JSONPatch" });
  const patch = JSON.parse(Buffer.from(response.patch ?? "", "base64").toString("utf8"));
  expect(patch).toMatchObject([
    { op: "replace", path: "/spec", value: { domain: { firmware: { uuid: "ü" } } } },
    { op: "replace", path: "/metadata" },
    { op: "replace", path: "/status", value: { phase: "Pending" } },
  ]);
});

test("no patch if there is nothing to change; refused if there is nothing to read", () => {
  const object = instance({}, { status: { phase: "Running" } });
  const update = review({ operation: "UPDATE", object, oldObject: object });
  expect(reviewMutation(update, cluster()).response).toEqual({ uid: "1-2-3", allowed: true });
  const broken = reviewMutation(review({ object: { spec: 7 } }), cluster()).response;
  expect(broken).toMatchObject({ allowed: false, status: { code: 422 } });
});

test("reads the agent's node from what the authenticator says", () => {
  const object = instance({}, { status: { nodeName: "a" } });
  const by = (extra: unknown): boolean =>
    reviewAdmission(
      review({
        operation: "UPDATE",
        object,
        oldObject: object,
        userInfo: { username: "system:serviceaccount:kubevirt:kubevirt-handler", extra },
      }),
      cluster(),
    ).response.allowed;
  expect(by({ "authentication.kubernetes.io/node-name": ["a"] })).toBe(true);
  for (const extra of [undefined, {}, { "authentication.kubernetes.io/node-name": "a" }]) {
    expect(by(extra)).toBe(false);
  }
});

test.each([
  undefined,
  null,
  7,
  "x",
  [],
  {},
  { request: null },
  { request: { uid: 7 } },
  { request: { uid: "u", resource: { group, resource: "pods" }, operation: "CREATE" } },
  { request: { resource: { group, resource: "constructor" }, operation: "CREATE" } },
  { request: { resource: { group, resource: "virtualmachines" }, operation: "DELETE" } },
  { request: { resource: { group: "x", resource: "virtualmachines" }, operation: "CREATE" } },
])("%j is not a review", (value) => {
  for (const answer of [reviewAdmission(value, cluster()), reviewMutation(value, cluster())]) {
    expect(answer.response).toMatchObject({ allowed: false, status: { code: 400 } });
    expect(answer.response.uid).toBeTypeOf("string");
  }
});
