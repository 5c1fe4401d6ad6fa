/** The maximum length of another component's message in a sentence. */
const quoteLength = 400;

/**
 * Another component's words, on one line, cut if they are long. They may come from a guest or an image, so
 * control characters, which a terminal would obey, are removed.
 */
export function quote(message: string): string {
  const line = message.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > quoteLength ? `${line.slice(0, quoteLength)}...` : line;
}

/** A sentence for a reason, given the message beside it. */
type Sentence = (message: string) => string;

/** A message that says more than its reason. */
const messages: readonly (readonly [
  pattern: RegExp,
  sentence: (match: RegExpMatchArray) => string,
])[] = [
  [
    /exceeded quota: ([^,]+), (.*)/s,
    ([, name = "", rest = ""]) => `the quota "${name}" of the namespace is used up: ${quote(rest)}`,
  ],
  [
    /violates PodSecurity "([^"]*)"/,
    ([, level = ""]) =>
      `the namespace enforces the Pod security level "${level}", which forbids the launcher Pod; relax it for this namespace`,
  ],
  [
    /admission webhook "([^"]*)" denied the request: (.*)/s,
    ([, webhook = "", why = ""]) => `the admission webhook ${webhook} refused it: ${quote(why)}`,
  ],
  [
    /PVC (\S+) does not exist/,
    ([, claim = ""]) => `the volume claim ${claim} does not exist; create it or correct the volume`,
  ],
  [
    /didn't find PVC (\S+)|persistentvolumeclaims? "([^"]+)" not found/,
    ([, a, b]) => `the volume claim ${a ?? b} does not exist; create it or correct the volume`,
  ],
  [
    /Insufficient (\S+\/kvm)/,
    ({ input = "", 1: device }) =>
      `no node offers hardware virtualisation (${device}): it is off in the firmware, or the node agent does not run there; ${quote(input)}`,
  ],
  [
    /unbound immediate PersistentVolumeClaims/,
    ({ input = "" }) => `a volume claim of the Pod is not bound to a volume: ${quote(input)}`,
  ],
  [/^\d+\/\d+ nodes are available/, ({ input = "" }) => `no node accepts the Pod: ${quote(input)}`],
  [
    /failed to configure vmi network: (.*)/s,
    ([, why = ""]) => `the node could not set up the guest's network: ${quote(why)}`,
  ],
];

/** Reasons of conditions, container states and events. */
const reasons: Readonly<Record<string, Sentence>> = {
  Unschedulable: (message) => withDetail("no node accepts the Pod", message),
  SchedulerError: (message) => withDetail("the scheduler failed", message),
  FailedScheduling: (message) => withDetail("no node accepts the Pod", message),
  SchedulingGated: () => "the Pod has scheduling gates; whoever set them must remove them",
  FailedPvcNotFound: (message) => withDetail("a volume claim is missing", message),
  FailedCreate: (message) => withDetail("the launcher Pod could not be created", message),
  FailedDataVolumeImport: (message) => withDetail("a disk could not be filled", message),
  FailedBackendStorageCreate: (message) =>
    withDetail("the volume for the VM's own state could not be created", message),
  FailedBackendStorageProbe: (message) =>
    withDetail("the volume for the VM's own state could not be checked", message),
  BackendStorageNotReady: () => "the volume for the VM's own state (TPM, EFI) is not bound yet",
  FailedGuaranteeResources: () =>
    "dedicated CPUs need a Pod of QoS class Guaranteed: requests and limits must be equal",
  ContainerPathVolumesDisabled: () =>
    "containerPath volumes need the feature gate ContainerPathVolumes",
  MissingVirtiofsContainers: (message) => withDetail("a virtiofs container is missing", message),
  NotAllDVsReady: () => "a disk is still being filled (its DataVolume is not ready)",
  ErrImagePull: (message) => withDetail("an image cannot be pulled", message),
  ImagePullBackOff: (message) => withDetail("an image cannot be pulled", message),
  InvalidImageName: (message) => withDetail("an image name is not valid", message),
  ErrImageNeverPull: (message) =>
    withDetail("an image is not on the node and may not be pulled", message),
  CreateContainerConfigError: (message) =>
    withDetail("a container refers to something that does not exist", message),
  CreateContainerError: (message) => withDetail("a container could not be created", message),
  RunContainerError: (message) => withDetail("a container could not be started", message),
  CrashLoopBackOff: (message) => withDetail("a container keeps crashing", message),
  OOMKilled: () => "a container was killed because it used more memory than its limit",
  Evicted: (message) => withDetail("the node evicted the Pod", message),
  NodeLost: () => "the node does not answer",
  NodeUnresponsive: () => "the node does not answer",
  FailedMount: (message) => withDetail("a volume cannot be mounted on the node", message),
  FailedAttachVolume: (message) => withDetail("a volume cannot be attached to the node", message),
  FailedMapVolume: (message) => withDetail("a block volume cannot be mapped on the node", message),
  FailedCreatePodSandBox: (message) =>
    withDetail("the Pod's sandbox could not be created, often because of its network", message),
  NetworkNotReady: (message) => withDetail("the node's network is not ready", message),
  SyncFailed: (message) => withDetail("the node could not start the guest", message),
  "Synchronizing with the Domain failed.": (message) =>
    withDetail("the node could not start the guest", message),
  PodNotExists: () => "the launcher Pod is gone",
  PodTerminating: () => "the launcher Pod is ending",
  GuestNotRunning: () => "the guest is not running yet",
  PodConditionMissing: () => "the Pod does not say whether it is ready",
  ContainersNotReady: (message) => withDetail("a container of the Pod is not ready", message),
  ReadinessGatesNotReady: (message) =>
    withDetail("a readiness gate of the Pod is not open", message),
};

/**
 * A plain sentence from the reason and the message of a condition, a container state or an event. Unknown ones
 * are given in the component's own words.
 */
export function sentence(reason: string, message: string): string {
  for (const [pattern, say] of messages) {
    const match = message.match(pattern);
    if (match) return say(match);
  }
  const say = Object.hasOwn(reasons, reason) ? reasons[reason] : undefined;
  if (say) return say(message);
  if (!message) return reason;
  return reason ? `${reason}: ${quote(message)}` : quote(message);
}

function withDetail(what: string, message: string): string {
  return message ? `${what}: ${quote(message)}` : what;
}
