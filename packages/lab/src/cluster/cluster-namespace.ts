import { randomBytes } from "node:crypto";
import { until } from "@virtkit/api/clock";
import { LabError } from "../lab-error.ts";
import type { ApiAnswer } from "./api-request.ts";
import type { Cluster } from "./cluster.ts";

/** The parts of a Pod that tests look at. */
export interface ClusterPod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly reason?: string;
    readonly podIP?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
    }[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

/** The parts of a container's status that tests look at. */
export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly resources?: unknown;
  readonly state: ContainerState;
  readonly lastState?: ContainerState;
}

interface ContainerState {
  readonly running?: { readonly startedAt: string };
  readonly waiting?: { readonly reason: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason: string;
    readonly message?: string;
    readonly finishedAt: string;
  };
}

/** A namespace of one test. Disposal deletes it without waiting. */
export type ClusterNamespace = AsyncDisposable & {
  readonly name: string;
  /** Creates a Pod; `spec` may omit everything that has a default. */
  createPod(name: string, spec: object, metadata?: object): Promise<ClusterPod>;
  pod(name: string): Promise<ClusterPod | undefined>;
  /**
   * Waits until a condition holds for a Pod; fails with the Pod's last status after two minutes.
   */
  untilPod(name: string, condition: (pod: ClusterPod) => boolean): Promise<ClusterPod>;
  /** Waits until a Pod has the condition `Ready`. */
  untilReady(name: string): Promise<ClusterPod>;
  /** Waits until there is no such Pod. */
  untilGone(name: string): Promise<void>;
  deletePod(name: string, gracePeriodSeconds?: number): Promise<ApiAnswer>;
  /** Runs a command in a container of a Pod; returns its stdout. */
  exec(pod: string, ...command: readonly string[]): Promise<string>;
};

const patience = { interval: 100, timeout: 120_000 };

/** Creates a namespace in which Pods can be created. */
export async function createNamespace(
  cluster: Cluster,
  prefix = "test",
): Promise<ClusterNamespace> {
  const name = `${prefix}-${randomBytes(4).toString("hex")}`;
  const path = `/api/v1/namespaces/${name}`;
  await must(
    cluster.request("/api/v1/namespaces", { method: "POST", body: { metadata: { name } } }),
  );
  const hasAccount = async (): Promise<boolean> =>
    (await cluster.request(`${path}/serviceaccounts/default`)).status === 200;
  if (!(await until(hasAccount, patience))) {
    throw new LabError("LAB_NOT_READY", `the namespace ${name} has no service account`);
  }
  const pod = async (podName: string): Promise<ClusterPod | undefined> => {
    const { status, body } = await cluster.request(`${path}/pods/${podName}`);
    return status === 200 ? (body as ClusterPod) : undefined;
  };
  const untilPod: ClusterNamespace["untilPod"] = async (podName, condition) => {
    let last: ClusterPod | undefined;
    const found = await until(async () => {
      last = await pod(podName);
      return last && condition(last) ? last : undefined;
    }, patience);
    if (found) return found;
    const status = JSON.stringify(last?.status);
    throw new LabError("LAB_NOT_READY", `Pod ${podName} is not as expected: ${status}`);
  };
  return {
    name,
    pod,
    untilPod,
    untilReady: (podName) => untilPod(podName, (found) => hasCondition(found, "Ready")),
    async untilGone(podName) {
      const isGone = async (): Promise<boolean> => (await pod(podName)) === undefined;
      if (await until(isGone, patience)) return;
      throw new LabError("LAB_NOT_READY", `Pod ${podName} is still there`);
    },
    async createPod(podName, spec, metadata = {}) {
      const body = { metadata: { name: podName, ...metadata }, spec };
      const created = await must(cluster.request(`${path}/pods`, { method: "POST", body }));
      return created.body as ClusterPod;
    },
    async deletePod(podName, gracePeriodSeconds) {
      const query =
        gracePeriodSeconds === undefined ? "" : `?gracePeriodSeconds=${gracePeriodSeconds}`;
      return await cluster.request(`${path}/pods/${podName}${query}`, { method: "DELETE" });
    },
    async exec(podName, ...command) {
      return await cluster.kubectl(["exec", "-n", name, podName, "--", ...command]);
    },
    async [Symbol.asyncDispose]() {
      await cluster.request(path, { method: "DELETE" });
    },
  };
}

/** Whether a condition of a Pod is true. */
export function hasCondition({ status }: ClusterPod, type: string): boolean {
  return status.conditions?.some((each) => each.type === type && each.status === "True") ?? false;
}

async function must(asked: Promise<ApiAnswer>): Promise<ApiAnswer> {
  const answer = await asked;
  if (answer.status < 300) return answer;
  const { message } = answer.body as { message?: string };
  throw new LabError("LAB_CLUSTER", `the API server refused with ${answer.status}: ${message}`);
}
