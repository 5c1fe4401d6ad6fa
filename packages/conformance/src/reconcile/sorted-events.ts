import { isObject, objects, text } from "@virtkit/api/shape";

/** The answer with its events in recorded order, for areas where KubeVirt works in parallel. */
export function sortedEvents(answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  const key = (event: Readonly<Record<string, unknown>>): string =>
    [event["object"], event["type"], event["reason"]].map(text).join(" ");
  const events = [...objects(answer["events"])].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return { ...answer, events };
}
