import { expect, test } from "vitest";
import { container, render, type Scene } from "../testing/render.ts";

function logging(labels: Record<string, string>, scene?: Scene): string[] {
  const env = container(render({ metadata: { labels } }, scene), "compute")?.env ?? [];
  return env
    .filter(({ name }) => /VERBOSITY|DEBUG/.test(name))
    .map(({ name, value }) => `${name}=${value}`);
}

const cluster = (virtLauncher: number): Scene => ({
  configuration: { developerConfiguration: { logVerbosity: { virtLauncher } } },
});

test.each<[Record<string, string>, Scene, string[]]>([
  [{}, {}, []],
  [{ logVerbosity: "2" }, {}, ["VIRT_LAUNCHER_LOG_VERBOSITY=2"]],
  [{}, cluster(4), ["VIRT_LAUNCHER_LOG_VERBOSITY=4"]],
  [{ logVerbosity: "3" }, cluster(9), ["VIRT_LAUNCHER_LOG_VERBOSITY=3"]],
  [
    {},
    cluster(6),
    ["VIRT_LAUNCHER_LOG_VERBOSITY=6", "LIBVIRT_DEBUG_LOGS=1", "VIRTIOFSD_DEBUG_LOGS=1"],
  ],
  [{ debugLogs: "True" }, {}, ["LIBVIRT_DEBUG_LOGS=1"]],
  [{ virtiofsdDebugLogs: "true" }, {}, ["VIRTIOFSD_DEBUG_LOGS=1"]],
  [{ debugLogs: "yes" }, {}, []],
])("labels %j in %j", (labels, scene, env) => {
  expect(logging(labels, scene)).toEqual(env);
});

test("refuses a verbosity that is not a number, with its path", () => {
  expect(() => logging({ logVerbosity: "high" })).toThrow(
    expect.objectContaining({
      code: "LAUNCHER_POD_FIELD_INVALID",
      path: "metadata.labels.logVerbosity",
    }),
  );
});
