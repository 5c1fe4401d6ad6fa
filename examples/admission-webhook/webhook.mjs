import { createServer } from "node:https";
import { reviewAdmission, reviewMutation } from "@virtkit/api/admission";
import { clusterConfig } from "@virtkit/api/config";

/** kube-apiserver sends two objects of at most 1.5 MiB each. */
const longestReview = 3 * 1024 * 1024;

/** A custom rule: every VMI belongs to a team. Returns what is wrong, or nothing. @param {any} vmi */
function ownRule(vmi) {
  return vmi?.metadata?.labels?.team
    ? undefined
    : "metadata.labels.team is missing; name your team";
}

/**
 * Defaults and judges VMIs as KubeVirt does, and by a custom rule: `/mutate` and `/validate`.
 * @param {{ key: string, cert: string }} credentials
 */
export function admissionWebhook({ key, cert }) {
  const config = clusterConfig({});
  return createServer({ key, cert, requestTimeout: 10_000 }, (request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
      body += chunk;
      if (body.length > longestReview) request.destroy();
    });
    request.on("end", () => {
      const answer = answerOf(request.url, body, config);
      response.writeHead(answer ? 200 : 400, { "content-type": "application/json" });
      response.end(JSON.stringify(answer ?? "send an AdmissionReview"));
    });
  });
}

/** @param {string | undefined} url @param {string} body @param {import("@virtkit/api/config").ClusterConfig} config */
function answerOf(url, body, config) {
  try {
    const review = JSON.parse(body);
    if (url?.startsWith("/mutate")) return reviewMutation(review, config);
    const answer = reviewAdmission(review, config);
    const message = answer.response.allowed ? ownRule(review.request.object) : undefined;
    if (message === undefined) return answer;
    return {
      ...answer,
      response: { ...answer.response, allowed: false, status: { code: 422, message } },
    };
  } catch {
    // Not JSON, or not a review: the API server gets an error, and refuses the object.
    return undefined;
  }
}
