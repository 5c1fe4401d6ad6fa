import {
  type Admission,
  type AdmissionReviewAnswer,
  admitInstancetypeObject,
  admitMigrationPolicy,
  admitPodEviction,
  admitPool,
  admitReplicaSet,
  answerReview,
  type EvictionAdmission,
  type InstancetypeResource,
  judge,
  nodeAgentCauses,
  reviewAdmission,
  reviewMutation,
  type ServiceAccounts,
  serviceAccounts,
} from "@virtkit/api/admission";
import type { ClusterConfig } from "@virtkit/api/config";
import { describeError, type Observers } from "@virtkit/api/observe";
import { at } from "@virtkit/api/shape";
import type { JsonPatchOperation, KubeClient } from "@virtkit/kube";
import { serverResources } from "../resources.ts";
import { AdmissionCluster } from "./admission-cluster.ts";
import { LiveReads } from "./live-reads.ts";
import { type Review, readReview } from "./review.ts";
import type { WebhookMode } from "./webhook-paths.ts";

/** What reviews are answered with. */
export interface ReviewContext extends Observers {
  readonly config: ClusterConfig;
  readonly client: KubeClient;
  /** The platform's own accounts. Default: those of namespace kubevirt. */
  readonly accounts?: ServiceAccounts | undefined;
  /** Used only when something is read or written, so it may be a getter. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Answers a review of any shape. Never rejects its promise: a rule that fails, or takes too long, rejects the
 * object with a sentence that says so.
 */
export async function answerAdmissionReview(
  mode: WebhookMode,
  body: unknown,
  context: ReviewContext,
): Promise<AdmissionReviewAnswer> {
  const review = readReview(body);
  if ("problem" in review) {
    return answerReview(String(at(body, "request", "uid") ?? ""), refused(400, review.problem));
  }
  try {
    const answer = mode === "mutate" ? mutated(review, context) : judged(review, context);
    return answer instanceof Promise ? await answer : answer;
  } catch (error) {
    const failed = describeError(error);
    context.log?.error(
      { resource: review.resource, error: failed },
      "a review could not be answered",
    );
    const late = context.signal?.aborted === true;
    const why = late ? "the review timed out" : `the review failed: ${failed.slice(0, 500)}`;
    return answerReview(
      review.uid,
      refused(late ? 429 : 400, `${why}; nothing was changed, try again`),
    );
  }
}

function refused(code: 400 | 429, message: string): Admission {
  return { allowed: false, code, message, causes: [], warnings: [] };
}

const usualAccounts = serviceAccounts();

const yes: Admission = { allowed: true, causes: [], warnings: [] };

function clusterOf(reads: LiveReads, context: ReviewContext): AdmissionCluster {
  const { client, config } = context;
  const { names } = config;
  return new AdmissionCluster(reads, client, serverResources(names), names, context);
}

/** An answer, or a promise of one if something must be read for it. */
type Answer = AdmissionReviewAnswer | Promise<AdmissionReviewAnswer>;

function mutated(review: Review, context: ReviewContext): Answer {
  const reads = new LiveReads();
  const matchers = clusterOf(reads, context);
  const accounts = context.accounts ?? usualAccounts;
  return reads.settle(() =>
    reviewMutation(review.body, context.config, { matchers, accounts, marks: true }),
  );
}

function judged(review: Review, context: ReviewContext): Answer {
  const { config } = context;
  const accounts = context.accounts ?? usualAccounts;
  const { groups } = config.names;
  const { resource, group } = review;
  const agentsWrite = agentWrite(review, config, accounts);
  if (!agentsWrite.allowed || (group === "" && resource === "nodes")) {
    return answerReview(review.uid, agentsWrite);
  }
  if (resource === "pods" && review.subresource === "eviction" && group === "") {
    return eviction(review, context).then((decided) => answerReview(review.uid, decided));
  }
  if (review.subresource === "status") {
    return answerReview(review.uid, statusWrite(review, accounts));
  }
  if (group === groups.core && resource === "virtualmachineinstancereplicasets") {
    return answerReview(review.uid, admitReplicaSet(review, config));
  }
  if (group === groups.pool) {
    return answerReview(review.uid, admitPool(review, config, { accounts }));
  }
  if (group === groups.migrations) {
    return answerReview(review.uid, admitMigrationPolicy(review, config));
  }
  if (group === groups.instancetype) {
    const kind = resource as InstancetypeResource;
    return answerReview(review.uid, admitInstancetypeObject(kind, review));
  }
  const reads = new LiveReads();
  const lookup = clusterOf(reads, context);
  return reads.settle(() => reviewAdmission(review.body, config, lookup, { accounts }));
}

/** All agents share one account; the node that a token is bound to decides what its agent may write. */
function agentWrite(
  review: Review,
  { names }: ClusterConfig,
  accounts: ServiceAccounts,
): Admission {
  const { operation } = review;
  if (!accounts.isHandler(review.username)) return yes;
  // Not a write: `CONNECT` of a subresource.
  if (operation !== "CREATE" && operation !== "UPDATE" && operation !== "DELETE") return yes;
  return judge(nodeAgentCauses({ ...review, operation }, { names, accounts }));
}

/** Status is the platform's statement about an object; nobody else may write it. */
function statusWrite({ username, resource }: Review, accounts: ServiceAccounts): Admission {
  if (accounts.isKubeVirt(username)) return yes;
  const message = `the status of ${resource} may be written only by the platform, not by ${JSON.stringify(username.slice(0, 200))}`;
  return refused(400, message);
}

/** The evacuation mark is written before the answer; if that fails, the Pod is not evicted either. */
async function eviction(review: Review, context: ReviewContext): Promise<Admission> {
  const { config, client } = context;
  const reads = new LiveReads();
  const lookup = clusterOf(reads, context);
  const { namespace, name, object, dryRun } = review;
  const decided: EvictionAdmission = await reads.settle(() =>
    admitPodEviction({ namespace, name, object, dryRun }, config, lookup),
  );
  if (!decided.patch) return decided.response;
  const vmi = at(
    lookup.pod(namespace, name),
    "metadata",
    "annotations",
    config.names.annotations.domain,
  );
  await client.patch(
    serverResources(config.names).virtualmachineinstances,
    { namespace, name: String(vmi) },
    { type: "json", operations: decided.patch.operations as readonly JsonPatchOperation[] },
    { dryRun: decided.patch.dryRun, signal: context.signal },
  );
  return decided.response;
}
