import { expect, test } from "vitest";
import { accessQuestion } from "./access-review.ts";
import { routeSubresource } from "./route.ts";

const vmi = "/apis/subresources.kubevirt.io/v1/namespaces/ns/virtualmachineinstances/vm";
const headers = { "x-remote-user": ["alice"], "x-remote-group": ["devs"] };

test("a review covers the whole path, whatever follows the name", () => {
  for (const rest of ["vnc", "vnc/screenshot", "sev/fetchcertchain", "evacuate/cancel"]) {
    expect(accessQuestion({ method: "GET", path: `${vmi}/${rest}`, headers })).toMatchObject({
      kind: "review",
      spec: {
        user: "alice",
        groups: ["devs"],
        resourceAttributes: {
          namespace: "ns",
          verb: "get",
          resource: "virtualmachineinstances",
          name: "vm",
          subresource: rest,
        },
      },
    });
  }
});

test("whatever is routed is reviewed under the same name, so that nothing slips through", () => {
  for (const rest of ["console", "console/", "console/x", "portforward/1", "vnc%2fscreenshot"]) {
    const path = `${vmi}/${rest}`;
    const routed = routeSubresource("GET", path);
    if ("code" in routed) continue;
    const question = accessQuestion({ method: "GET", path, headers });
    expect(question).toMatchObject({
      spec: { resourceAttributes: { subresource: routed.route.subresource, name: routed.name } },
    });
  }
});

test("passes on the uid and the extra fields of the user, with unescaped keys", () => {
  const more = { "X-Remote-Uid": ["u1"], "X-Remote-Extra-Acme.com%2fScope": ["a", "b"] };
  const question = accessQuestion({
    method: "PUT",
    path: `${vmi}/pause`,
    headers: { ...headers, ...more },
  });
  expect(question).toMatchObject({ spec: { uid: "u1", extra: { "acme.com/scope": ["a", "b"] } } });
});

test.each([
  ["no user", { "x-remote-group": ["devs"] }, "PUT", `${vmi}/pause`],
  ["an empty user", { ...headers, "x-remote-user": [""] }, "PUT", `${vmi}/pause`],
  ["no groups", { "x-remote-user": ["alice"] }, "PUT", `${vmi}/pause`],
  ["another API group", headers, "PUT", vmi.replace("subresources.", "evil.")],
  ["an unknown method", headers, "BREW", `${vmi}/pause`],
  ["a name that every object inherits", headers, "constructor", `${vmi}/pause`],
  ["an object without a verb", headers, "PUT", vmi],
  ["an unknown path", headers, "GET", "/metrics"],
])("denies %s", (_, given, method, path) => {
  expect(accessQuestion({ method, path, headers: given })).toMatchObject({ kind: "denied" });
});

test("ignores a header that the front proxy does not use", () => {
  const identity = { user: ["X-Proxy-User"], uid: [], group: ["X-Proxy-Group"], extraPrefix: [] };
  const question = accessQuestion({ method: "PUT", path: `${vmi}/pause`, headers }, identity);
  expect(question).toMatchObject({ kind: "denied" });
});
