import { expect, test } from "vitest";
import { type NodeRequest, nodeRequestPath, parseNodeRequest } from "./node-request.ts";
import { type NodeSubresource, nodeRoutes } from "./node-route.ts";

const base = "/v1/namespaces/ns/virtualmachineinstances/vm.1";

test("the path of every route leads back to it", () => {
  for (const [subresource, { method, query = [] }] of Object.entries(nodeRoutes)) {
    const request: NodeRequest = {
      namespace: "ns",
      name: "vm.1",
      subresource: subresource as NodeSubresource,
      query: Object.fromEntries(query.map((key) => [key, `a&b=${key}`])),
    };
    const path = nodeRequestPath(request);
    expect(path.startsWith(`${base}/${subresource}`)).toBe(true);
    expect(parseNodeRequest(method, path)).toEqual(request);
  }
});

test("paths and queries equal KubeVirt's", () => {
  const request = { namespace: "ns", name: "vm.1", subresource: "vsock" } as const;
  expect(nodeRequestPath({ ...request, query: { port: "22", tls: "true" } })).toBe(
    `${base}/vsock?port=22&tls=true`,
  );
  expect(nodeRequestPath({ ...request, query: {} })).toBe(`${base}/vsock`);
  expect(parseNodeRequest("GET", `${base}/vsock?port=&x=1&port=7`)).toMatchObject({
    query: { port: "" },
  });
  expect(parseNodeRequest("GET", `${base}/vsock?port=%zz&tls=a+b`)).toMatchObject({
    query: { port: "%zz", tls: "a b" },
  });
});

test.each([
  ["another method", "POST", `${base}/pause`, 405],
  ["the method of a stream", "PUT", `${base}/console`, 405],
  ["a subresource that nodes do not answer", "GET", `${base}/portforward`, 404],
  ["a name that every object inherits", "GET", `${base}/constructor`, 404],
  ["a trailing slash", "PUT", `${base}/pause/`, 404],
  ["an escaped slash", "PUT", `/v1/namespaces/a%2fb/virtualmachineinstances/vm/pause`, 404],
  ["a path with ..", "PUT", `/v1/namespaces/../virtualmachineinstances/vm/pause`, 404],
  ["another host", "PUT", `http://x${base}/pause`, 404],
  ["nothing", "GET", "", 404],
  ["an endless path", "GET", `${base}/${"x".repeat(3000)}`, 400],
])("%s is not routed", (_, method, target, code) => {
  expect(parseNodeRequest(method, target)).toMatchObject({ code });
});

test.each(["", "..", "a/b", "A", "a?b", "a b"])("makes no path from the name %j", (name) => {
  const request = { namespace: "ns", name, subresource: "pause", query: {} } as const;
  expect(() => nodeRequestPath(request)).toThrow(
    expect.objectContaining({ code: "API_NAME_INVALID" }),
  );
});
