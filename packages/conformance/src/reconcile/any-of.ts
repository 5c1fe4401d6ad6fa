import { at, isObject, objects } from "@virtkit/api/shape";

/**
 * The answer to a case in which any objects may be deleted: their names are `*`, and they are not among the
 * changed objects.
 */
export function anyOf(answer: unknown, context: unknown): unknown {
  if (at(context, "flags", "anyOf") !== true || !isObject(answer)) return answer;
  const after = Object.entries(Object(answer["after"]) as object);
  return {
    ...answer,
    after: Object.fromEntries(after.filter(([, object]) => at(object, "deleted") !== true)),
    actions: objects(answer["actions"]).map((action) =>
      action["verb"] === "delete" ? { ...action, name: "*" } : action,
    ),
  };
}
