import { at, type JsonObject, objects } from "@virtkit/api/shape";
import { recordedForm, withoutEmpty } from "./recorded-form.ts";

/**
 * What an answer of a controller causes: the objects afterwards, new ones, the events, the next look and the
 * error. How changes are packed into requests is a choice and is not compared.
 */
export function reconcileEffect(answer: unknown): unknown {
  const seconds = objects(at(answer, "requeue")).map((each) => JSON.stringify(each));
  return withoutEmpty(
    recordedForm({
      after: at(answer, "after"),
      created: objects(at(answer, "actions"))
        .filter((each) => each["verb"] === "create" && !each["refused"])
        .sort((a, b) => (place(a) < place(b) ? -1 : 1)),
      events: at(answer, "events"),
      // An object that is queued twice is looked at once.
      requeue: [...new Set(seconds)].sort(),
      error: at(answer, "error") ?? "none",
    }),
  );
}

/** Requests of one kind are recorded in the order of names. */
function place({ resource, namespace, name, generateName }: JsonObject): string {
  return [resource, namespace, name ?? generateName].join("/");
}
