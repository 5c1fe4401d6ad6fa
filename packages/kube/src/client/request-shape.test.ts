import { expect, test } from "vitest";
import { requestShape } from "./request-shape.ts";

test.each([
  ["GET", "/api/v1/pods?limit=500", "LIST", "pods", "/api/v1/pods"],
  ["GET", "/api/v1/pods?watch=true&x=1", "WATCH", "pods", "/api/v1/pods"],
  ["GET", "/api/v1/namespaces", "LIST", "namespaces", "/api/v1/namespaces"],
  ["GET", "/api/v1/namespaces/a", "GET", "namespaces", "/api/v1/namespaces/{name}"],
  [
    ...["PATCH", "/api/v1/namespaces/a/pods/b/status", "PATCH", "pods/status"],
    "/api/v1/namespaces/{namespace}/pods/{name}/status",
  ],
  [
    ...["POST", "/apis/kubevirt.io/v1/namespaces/a/virtualmachines?dryRun=All", "CREATE"],
    ...["virtualmachines", "/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines"],
  ],
  ["PUT", "/api/v1/nodes/n", "UPDATE", "nodes", "/api/v1/nodes/{name}"],
  ["DELETE", "/api/v1/nodes/n", "DELETE", "nodes", "/api/v1/nodes/{name}"],
  ["GET", "/version", "GET", "", "/version"],
  ["GET", "", "GET", "", ""],
])("%s %s is a %s of %s", (method, path, verb, resource, url) => {
  expect(requestShape(method, path)).toEqual({ verb, resource, url });
});
