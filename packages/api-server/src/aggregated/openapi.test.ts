import { names as namesOf } from "@virtkit/api/names";
import { at } from "@virtkit/api/shape";
import { subresourceRoutes, subresourceVersions } from "@virtkit/api/subresources/server";
import { expect, test } from "vitest";
import { StartedServer } from "../testing/started-server.ts";
import { openApiDocument, openApiV2Document } from "./openapi.ts";

const names = namesOf();
const root = (version: string): string => `/apis/${names.groups.subresources}/${version}/`;

function entries(value: unknown): [string, unknown][] {
  return Object.entries(value as Record<string, unknown>);
}

/** `METHOD resource/subresource` of each operation below a version's root. */
function operations(document: unknown, version: string): string[] {
  const start = `${root(version)}namespaces/{namespace}/`;
  return entries(at(document, "paths"))
    .filter(([path]) => path.startsWith(start))
    .flatMap(([path, item]) =>
      entries(item)
        .filter(([method]) => method !== "parameters")
        .map(([method]) => `${method.toUpperCase()} ${path.slice(start.length)}`),
    )
    .map((line) => line.replace("/{name}", "").replace("/{port}/{protocol}", ""))
    .sort();
}

test("OpenAPI v2 and v3 list each route of each version with its method, and nothing else", () => {
  const routes = subresourceRoutes
    .map(({ method, resource, subresource }) =>
      subresource ? `${method} ${resource}/${subresource}` : `${method} ${resource}`,
    )
    .sort();
  expect(routes.length).toBeGreaterThan(20);
  const v2 = openApiV2Document(names);
  for (const version of subresourceVersions) {
    expect(operations(v2, version)).toEqual(routes);
    expect(operations(openApiDocument(names, version), version)).toEqual(routes);
  }
  expect(entries(v2["paths"])).toHaveLength(
    subresourceVersions.reduce(
      (sum, version) => sum + entries(openApiDocument(names, version)["paths"]).length,
      0,
    ),
  );
});

test("OpenAPI v2 is valid: each path parameter is declared with a type, and each operation ID is unique", () => {
  const ids: unknown[] = [];
  for (const [path, item] of entries(openApiV2Document(names)["paths"])) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = at(item, "parameters") as readonly Record<string, unknown>[];
    expect([path, parameters.map(({ name }) => name)]).toEqual([path, inPath]);
    for (const parameter of parameters) {
      expect(parameter).toMatchObject({ in: "path", required: true, type: "string" });
    }
    for (const [method, operation] of entries(item)) {
      if (method === "parameters") continue;
      ids.push(at(operation, "operationId"));
      expect(operation).toMatchObject({ produces: ["application/json"] });
    }
  }
  expect(new Set(ids).size).toBe(ids.length);
});

test("OpenAPI v2 is served to everybody", async () => {
  await using started = await StartedServer.start();
  const answer = await started.ask("GET", "/openapi/v2", { headers: {}, certificate: null });
  expect(answer.code).toBe(200);
  expect(answer.json).toEqual(JSON.parse(JSON.stringify(openApiV2Document(names))));
  expect(answer.json).toMatchObject({ swagger: "2.0", definitions: {} });
});
