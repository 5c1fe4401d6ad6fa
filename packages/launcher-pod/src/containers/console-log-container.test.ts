import type { Devices } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { container, render, type Scene } from "../testing/render.ts";

const off: Scene = { configuration: { virtualMachineOptions: { disableSerialConsoleLog: {} } } };

test.each<[Partial<Devices>, Scene, boolean]>([
  [{}, {}, true],
  [{}, off, false],
  [{ logSerialConsole: true }, off, true],
  [{ logSerialConsole: false }, {}, false],
  [{ logSerialConsole: true, autoattachSerialConsole: false }, {}, false],
])("devices %j in %j: logged %s", (devices, scene, logged) => {
  expect(container(render({ devices }, scene), "guest-console-log") !== undefined).toBe(logged);
});

test("is a sidecar that can only read the guest's console", () => {
  expect(container(render({}), "guest-console-log")).toMatchObject({
    restartPolicy: "Always",
    args: ["--logfile", "/var/run/kubevirt-private/uid-1/virt-serial0-log"],
    volumeMounts: [{ name: "private", readOnly: true }],
    securityContext: { runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
  });
});
