import { recordedFacts } from "./recorded-cases.ts";

type Definitions = ReadonlyMap<string, readonly string[]>;

/** KubeVirt's published definitions by their full name: a line per field, or the one type of a scalar. */
export function publishedDefinitions(): Definitions {
  const definitions = new Map<string, string[]>();
  let fields: string[] = [];
  const lines = recordedFacts("fields.txt").split("\n");
  for (const line of lines.filter((each) => each !== "" && !each.startsWith("#"))) {
    const [, name = "", , scalar] = /^(\S+)(\s+= (.*))?$/.exec(line) ?? [];
    if (name === "") {
      fields.push(line.trim());
    } else {
      fields = scalar && scalar !== "object" ? [`= ${scalar}`] : [];
      definitions.set(name, fields);
    }
  }
  return definitions;
}

/** An object of a definition with every published field set, to a value that its type alone allows. */
export function fullObject(name: string): Record<string, unknown> {
  return valueFor(publishedDefinitions(), name, "") as Record<string, unknown>;
}

function valueFor(definitions: Definitions, type: string, constraints: string): unknown {
  const inner = /^(?:\[(.*)\]|map<(.*)>)$/.exec(type);
  if (inner?.[1] !== undefined) return [valueFor(definitions, inner[1], constraints)];
  if (inner?.[2] !== undefined) return { key: valueFor(definitions, inner[2], constraints) };
  const fields = definitions.get(type);
  if (!fields) return scalar(type, constraints);
  if (type.endsWith(".Duration")) return "1h30m";
  const [first = ""] = fields;
  if (first.startsWith("= ")) return scalar(first.slice(2), constraints);
  return Object.fromEntries(
    fields.map((line) => {
      const [, field = "", fieldType = "", rest = ""] = /^(\w+): (\S+)(.*)$/.exec(line) ?? [];
      return [field, valueFor(definitions, fieldType, rest)];
    }),
  );
}

function scalar(type: string, constraints: string): unknown {
  const known = / enum=(\[.*\])/.exec(constraints)?.[1];
  if (known !== undefined) return (JSON.parse(known) as unknown[]).at(-1);
  switch (type) {
    case "boolean":
      return true;
    case "string|number":
      return 80;
    case "number:float":
      return 1.5;
    case "string|integer|number":
      return "1Gi";
    case "string|null":
    case "string:date-time":
      return "2026-01-31T08:30:00Z";
    default:
      return type.startsWith("integer") ? 7 : "text";
  }
}
