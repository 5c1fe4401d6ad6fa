import { expect, test } from "vitest";
import { defineResource } from "../client/resource.ts";
import { answer, failure, localServer } from "../testing/local-server.ts";
import { liveRead } from "./live-read.ts";

const pods = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

test("only an answer from the API server itself makes an object absent", async () => {
  const { client } = await localServer((request, response) => {
    switch (request.url?.split("/").at(-1)) {
      case "here":
        return answer(response, { metadata: { name: "here" } });
      case "gone":
        return answer(response, failure(404, "NotFound", { name: "gone" }), 404);
      case "unserved-status":
        return answer(response, failure(404, "NotFound", {}), 404);
      case "unserved":
        return answer(response, "404 page not found", 404);
      default:
        response.destroy();
    }
  });
  const read = (name: string) => liveRead(client, pods, { namespace: "default", name });
  expect(await read("here")).toEqual({ state: "present", object: { metadata: { name: "here" } } });
  expect(await read("gone")).toEqual({ state: "absent" });
  await expect(read("unserved")).rejects.toMatchObject({ status: 404 });
  await expect(read("unserved-status")).rejects.toMatchObject({ status: 404 });
  await expect(read("broken")).rejects.toMatchObject({ code: "KUBE_CONNECTION" });
});
