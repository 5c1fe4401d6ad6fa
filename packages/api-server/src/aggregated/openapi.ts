import type { Names } from "@virtkit/api/names";
import {
  type SubresourceRoute,
  subresourceRoutes,
  subresourceVersions,
} from "@virtkit/api/subresources/server";

type Json = Readonly<Record<string, unknown>>;

const info = { title: "Subresources of virtual machines", version: "v1" };

/** The list of OpenAPI v3 documents, as the aggregator reads it. */
export function openApiIndex({ groups }: Pick<Names, "groups">): Json {
  const paths = subresourceVersions.map((version) => {
    const path = `apis/${groups.subresources}/${version}`;
    return [path, { serverRelativeURL: `/openapi/v3/${path}` }];
  });
  return { paths: Object.fromEntries(paths) };
}

/** The OpenAPI v3 document of one version. */
export function openApiDocument(names: Pick<Names, "groups">, version: string): Json {
  return { openapi: "3.0.0", info, paths: pathsOf(names, version, 3), components: { schemas: {} } };
}

/** The OpenAPI v2 document of all versions. */
export function openApiV2Document(names: Pick<Names, "groups">): Json {
  const paths = subresourceVersions.map((version) => pathsOf(names, version, 2));
  return { swagger: "2.0", info, paths: Object.assign({}, ...paths), definitions: {} };
}

function pathsOf({ groups }: Pick<Names, "groups">, version: string, format: 2 | 3): Json {
  const root = `/apis/${groups.subresources}/${version}/namespaces/{namespace}`;
  return Object.fromEntries(
    subresourceRoutes.map((route) => [
      `${root}/${tailOf(route)}`,
      {
        [route.method.toLowerCase()]: operation(route, version, format),
        parameters: parametersOf(route, format),
      },
    ]),
  );
}

function tailOf({ resource, subresource }: SubresourceRoute): string {
  if (!subresource) return resource;
  const tail = subresource === "portforward" ? "portforward/{port}/{protocol}" : subresource;
  return `${resource}/{name}/${tail}`;
}

function parametersOf(route: SubresourceRoute, format: 2 | 3): readonly Json[] {
  const names = ["namespace", ...tailOf(route).matchAll(/\{(\w+)\}/g)].map((match) =>
    typeof match === "string" ? match : String(match[1]),
  );
  const type = format === 3 ? { schema: { type: "string" } } : { type: "string" };
  return names.map((name) => ({ name, in: "path", required: true, ...type }));
}

function operation(
  { resource, subresource, method }: SubresourceRoute,
  version: string,
  format: 2 | 3,
): Json {
  const id = [version, resource, ...subresource.split("/"), method.toLowerCase()].join("-");
  const media = "application/json";
  return {
    operationId: id,
    responses: { "200": { description: "OK" }, "401": { description: "Unauthorized" } },
    ...(format === 2 ? { consumes: [media], produces: [media] } : {}),
  };
}
