import { expect, test } from "vitest";
import { routeSubresource, subresourceRoutes } from "./route.ts";

const root = "/apis/subresources.kubevirt.io/v1/namespaces/ns";
const vm = `${root}/virtualmachines/vm.1`;

test("every route is found by its own path, in both versions", () => {
  for (const route of subresourceRoutes) {
    const rest = route.subresource === "portforward" ? "portforward/22/tcp" : route.subresource;
    const path =
      route.resource === "expand-vm-spec"
        ? `${root}/expand-vm-spec`
        : `${root}/${route.resource}/vm.1/${rest}`;
    expect(routeSubresource(route.method, path)).toMatchObject({ route, version: "v1" });
    const alpha = path.replace("/v1/", "/v1alpha3/");
    expect(routeSubresource(route.method, alpha)).toMatchObject({ route, version: "v1alpha3" });
  }
});

test("what follows portforward is port and protocol", () => {
  expect(routeSubresource("GET", `${vm}/portforward/22`)).toMatchObject({ parameters: ["22"] });
  expect(routeSubresource("GET", `${vm}/portforward/22/udp`)).toMatchObject({
    parameters: ["22", "udp"],
  });
});

test.each([
  ["another method", "POST", `${vm}/start`, 405],
  ["a trailing slash", "PUT", `${vm}/start/`, 404],
  ["two slashes", "PUT", `${root}//virtualmachines/vm/start`, 404],
  ["an escaped character", "PUT", `${root}/virtualmachines/v%6d/start`, 404],
  ["a path with ..", "PUT", `${root}/virtualmachines/../start`, 404],
  ["another group", "PUT", vm.replace("subresources.", "evil."), 404],
  ["another version", "PUT", `${vm}/start`.replace("/v1/", "/v2/"), 404],
  ["a verb of another resource", "PUT", `${vm}/pause`, 404],
  ["a name that every object inherits", "GET", `${vm}/constructor`, 404],
  ["port forwarding without a port", "GET", `${vm}/portforward`, 404],
  ["port forwarding with an extra part", "GET", `${vm}/portforward/22/tcp/x`, 404],
  ["a verb with an extra part", "PUT", `${vm}/start/now`, 404],
  ["nothing", "GET", "", 404],
])("%s is not routed", (_, method, path, code) => {
  expect(routeSubresource(method, path)).toMatchObject({ code });
});
