import { wallTime } from "@virtkit/api/clock";
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrationStateSchema,
  VirtualMachineInstanceSchema,
  VolumeSchema,
} from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { liveMigratable, migrationDataSize } from "@virtkit/migration/policy";
import { convergencePolicy, type MigrationMode } from "@virtkit/migration/source";
import {
  beginAttempt,
  endAttempt,
  isAbortHandled,
  migrationUidOf,
  planSourceStep,
  sourceStatus,
} from "@virtkit/migration/source/agent";
import {
  classifyVolumes,
  estimatedDowntimeMs,
  judgeByTime,
  noIterations,
  planSingleCall,
  refuseUnready,
  type StallState,
  singleCallFlags,
  stallAction,
  withBandwidth,
  withIteration,
} from "@virtkit/migration/source/kubevirt";
import type { BatchFunction } from "../batch/batch-area.ts";
import { readAsGo, writeAsGo } from "./go-form.ts";
import { listField, objectField, stringField, textField } from "./input-fields.ts";
import {
  domainOf,
  eventLines,
  migrationOptionsOf,
  recordedCalls,
  recordedFlags,
  recordedOptions,
  recordedParams,
  stallDetectionOf,
} from "./migration-source-form.ts";
import { contextConfig } from "./request-context.ts";

const vmiOf = (input: unknown): VirtualMachineInstance =>
  readAsGo(objectField(input, "vmi"), VirtualMachineInstanceSchema) as VirtualMachineInstance;

const optionsOf = (input: unknown): ReturnType<typeof migrationOptionsOf> =>
  migrationOptionsOf(objectField(input, "options"));

const sum = (numbers: unknown): number =>
  Array.isArray(numbers) ? numbers.reduce((all: number, one) => all + Number(one), 0) : 0;

/** The node that was recorded. */
const recordedNode = "node01";

/** Where its launcher had its root. */
const launcherRoot = "/proc/4242/root";

/** The functions of area `migration-source`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "live-migratable": (input, context) => {
    const config = contextConfig(context);
    const hostCpuModel = textField(input, "hostCpuModel");
    const found = liveMigratable(vmiOf(input), { config, hostCpuModel });
    return {
      conditions: found.conditions.map(({ type, status, reason = "" }) => ({
        type,
        status,
        reason,
      })),
      migrationMethod: found.migrationMethod,
      events: eventLines(found.events),
    };
  },

  "handler-migrate": (input, context) => {
    const config = contextConfig(context);
    const vmi = vmiOf(input);
    const domain = domainOf(at(input, "domain"));
    const step = planSourceStep(vmi, { node: recordedNode, domain, config });
    if (step.step === "cancel") return { cancel: true, events: eventLines(step.events) };
    if (step.step !== "migrate") return { events: [] };
    const { volumes = [] } = step.vmi.spec;
    return {
      migrate: recordedOptions(step.options),
      sentVolumes: volumes.length > 0 ? volumes.map((one) => writeAsGo(one, VolumeSchema)) : null,
      sourceListener: {
        ...step.target,
        baseDir: launcherRoot + config.names.directories.share,
        key: vmi.metadata?.uid ?? "",
      },
      passtRepair: step.passtRepair,
      events: eventLines(step.events),
    };
  },

  "source-status": (input) => {
    const vmi = vmiOf(input);
    const now = Math.floor(wallTime().getTime() / 1000) * 1000;
    const node = textField(input, "host");
    const status = sourceStatus(vmi, { node, domain: domainOf(at(input, "domain")), now });
    if (!status) return { events: [], migrationState: null, phase: vmi.status?.phase ?? "" };
    const { endTimestamp, ...rest } = status.migrationState;
    const isNow = Date.parse(endTimestamp ?? "") === now;
    const state = isNow ? rest : status.migrationState;
    const left = status.hasLeft ? "Succeeded" : (vmi.status?.phase ?? "");
    return {
      events: eventLines(status.events),
      migrationState: writeAsGo(state, VirtualMachineInstanceMigrationStateSchema),
      // How KubeVirt treats a guest whose node nobody reports.
      phase: status.isLost && left !== "Succeeded" ? "Failed" : left,
      ...(isNow && { endTimestampSetToNow: true }),
    };
  },

  "migration-flags": (input) => {
    const guest = {
      blockMigration: at(input, "blockMigration") === true,
      paused: at(input, "paused") === true,
    };
    return recordedFlags(singleCallFlags(optionsOf(input), guest));
  },

  "migration-params": (input) => {
    const sizes = at(input, "diskVirtualSizes") as Record<string, number> | undefined;
    const call = planSingleCall({
      vmi: vmiOf(input),
      options: optionsOf(input),
      domainXml: stringField(input, "domainXML"),
      paused: false,
      destinationHook: at(input, "libvirtHooks") === true,
      ...(sizes && { virtualSizes: sizes }),
    });
    return recordedParams(call);
  },

  "classify-volumes": (input) => classifyVolumes(vmiOf(input)),

  "completion-time": (input) => {
    const bytes = sum(at(input, "ephemeralDiskFileSizes"));
    const vmi = vmiOf(input);
    const { completionSeconds, stallDetection } = convergencePolicy(vmi, optionsOf(input), bytes);
    return {
      dataSizeGB: migrationDataSize(vmi, bytes),
      acceptableCompletionSeconds: completionSeconds,
      switchOverDeadlineSeconds: stallDetection ? completionSeconds : 0,
    };
  },

  "legacy-convergence": (input) => {
    const policy = convergencePolicy(vmiOf(input), optionsOf(input));
    const mode = textField(input, "mode") as MigrationMode;
    const verdict = judgeByTime(
      {
        mode,
        elapsedSeconds: Number(at(input, "elapsedSeconds") ?? 0),
        // The recorder lets another half second pass.
        idleSeconds: Number(at(input, "secondsSinceProgress") ?? 0) + 0.5,
        completionSeconds: policy.completionSeconds,
      },
      policy,
    );
    const abortStatus = textField(input, "abortStatus");
    if (verdict.action === "abort" && isAbortHandled(abortStatus)) {
      return recordedCalls({ action: "go-on" }, { mode, abortStatus, policy });
    }
    return recordedCalls(verdict, { mode, abortStatus, policy });
  },

  "stall-detector": (input) => {
    const options = stallDetectionOf(objectField(input, "stallDetector"));
    const policy = {
      completionSeconds: Number(at(input, "acceptableCompletionSeconds")),
      progressSeconds: 0,
      maxDowntimeMs: Number(at(input, "maxDowntimeMs")),
      allowPostCopy: at(input, "allowPostCopy") === true,
      allowWorkloadDisruption: at(input, "allowWorkloadDisruption") === true,
      hasVfio: at(input, "hasVFIO") === true,
    };
    const elapsedSeconds = Number(at(input, "elapsedSeconds"));
    let state: StallState = noIterations;
    const steps = listField<RecordedStep>(input, "steps").map((step) => {
      if (step.bandwidth !== undefined) {
        state = withBandwidth(state, Number(step.bandwidth), options);
        return { ewmaBandwidthBps: state.bandwidth };
      }
      const remainingBytes = Number(step.remainingBytes);
      const record = { elapsedMs: Number(step.elapsedMs), remainingBytes };
      const next = withIteration(state, record, options);
      const { completionSeconds } = policy;
      const moment = { remainingBytes, elapsedSeconds, completionSeconds };
      const action = next.stalled ? stallAction(next.state, moment, policy, options) : undefined;
      const acted = action !== undefined && action !== "nothing";
      state = acted ? { ...next.state, acted } : next.state;
      return {
        stalled: next.stalled,
        ...(action && { action }),
        candidates: state.candidates.length,
        bestRemainingBytes: state.search?.bestBytes ?? 0,
        estimatedDowntimeMs: estimatedDowntimeMs(state, remainingBytes),
      };
    });
    return { steps };
  },

  "migration-result": (input) => {
    const now = "2026-01-01T00:00:00Z";
    const uid = migrationUidOf(vmiOf(input));
    const failed = at(input, "failed") === true;
    const begun = beginAttempt(undefined, uid, now);
    const ended = endAttempt(begun, { failed, reason: textField(input, "reason"), now });
    const again = attempt(() => beginAttempt(ended, uid, now));
    return {
      uid: ended.uid,
      ended: ended.endTimestamp !== undefined,
      failed: ended.failed ?? false,
      secondStartRefused: again === undefined,
      secondStartInProgress: again !== undefined && again.endTimestamp === undefined,
    };
  },

  "start-migration-refused": (input) => {
    refuseUnready(vmiOf(input));
    return { error: null };
  },
};

interface RecordedStep {
  readonly bandwidth?: unknown;
  readonly elapsedMs?: unknown;
  readonly remainingBytes?: unknown;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    // That it is refused is the answer.
    return undefined;
  }
}
