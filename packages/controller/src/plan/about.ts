import { at, object } from "@virtkit/api/shape";
import { apiVersionOf, type KubeObject, type Resource } from "@virtkit/kube";

/** An object as the subject of an event. Objects from lists do not have a kind. */
export function about(subject: unknown, resource: Resource): KubeObject {
  const { kind } = resource;
  const metadata = object(at(subject, "metadata")) as KubeObject["metadata"];
  return { apiVersion: apiVersionOf(resource), kind, metadata };
}
