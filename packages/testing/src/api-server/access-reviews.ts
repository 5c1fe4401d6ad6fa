import { defineResource } from "@virtkit/kube";
import type { AccessQuestion } from "./authorizer.ts";
import { type AnyObject, type Kind, plainKind } from "./kind.ts";

const group = "authorization.k8s.io";

/** Reviews are answered at once and never stored: a server has no other verb for them than `create`. */
export const accessReviewKinds: readonly Kind[] = [
  reviewKind("subjectaccessreviews", "SubjectAccessReview", false),
  reviewKind("selfsubjectaccessreviews", "SelfSubjectAccessReview", false),
  reviewKind("localsubjectaccessreviews", "LocalSubjectAccessReview", true),
];

function reviewKind(plural: string, kind: string, namespaced: boolean): Kind {
  const resource = defineResource({ group, version: "v1", plural, kind, namespaced });
  return plainKind(resource, {
    counted: false,
    answer: (object, { user, authorizer }) => {
      const question = questionIn(object, kind.startsWith("Self") ? user : undefined);
      const found = authorizer(question);
      const status = found === true ? { allowed: true } : refusedFor(found);
      return { ...object, status };
    },
  });
}

function refusedFor(found: false | string): Readonly<Record<string, unknown>> {
  return found === false ? { allowed: false } : { allowed: false, reason: found };
}

function questionIn({ spec = {} }: AnyObject, self: string | undefined): AccessQuestion {
  const { resourceAttributes, nonResourceAttributes, user, groups } = spec;
  const {
    verb = "",
    path,
    ...rest
  } = Object(resourceAttributes ?? nonResourceAttributes) as {
    readonly verb?: string;
    readonly path?: string;
  };
  return {
    ...rest,
    ...(path === undefined ? {} : { path }),
    verb,
    user: self ?? String(user ?? ""),
    groups: Array.isArray(groups) ? groups.map(String) : [],
  };
}
