import { names } from "@virtkit/api/names";
import { type LauncherProfile, virtkitLauncherProfile } from "@virtkit/launcher-pod";
import { expect, test } from "vitest";
import { parseLauncherOptions } from "./launcher-options.ts";

type Launch = Parameters<LauncherProfile["command"]>[0];

const launch: Launch = {
  name: "demo",
  namespace: "default",
  uid: "vmi-1",
  gracePeriodSeconds: 75,
  hookSidecars: 2,
  firmwareDirectory: "/usr/share/OVMF",
  diskMemoryLimit: 2_000_000_000n,
  hypervisor: "kvm",
  nonRoot: true,
  allowEmulation: true,
  keepAfterFailure: true,
  simulateCrash: false,
  libvirtLogFilters: "3:remote 4:event",
  temporary: false,
  gate: () => false,
};

/** The line as the kubelet runs it: with environment variables substituted. */
const lineOf = (
  changes: Partial<Launch> = {},
  profile: LauncherProfile = virtkitLauncherProfile(),
): string[] => {
  const [program, ...line] = profile.command({ ...launch, ...changes });
  expect(program).toMatch(/virtkit-launcher$/);
  const known = profile.environment?.map(({ name }) => name) ?? [];
  return line.map((word) =>
    word.replace(/\$\$|\$\((\w+)\)/g, (found, name) =>
      found === "$$" ? "$" : known.includes(name) ? "pod-1" : "?",
    ),
  );
};

test("understands the Pod's whole command line", () => {
  expect(parseLauncherOptions(lineOf())).toEqual({
    name: "demo",
    namespace: "default",
    uid: "vmi-1",
    podUid: "pod-1",
    gracePeriodSeconds: 75,
    startTimeoutSeconds: 0,
    hookSidecars: 2,
    firmwareDirectory: "/usr/share/OVMF",
    diskMemoryLimit: 2_000_000_000,
    hypervisor: "kvm",
    allowEmulation: true,
    keepAfterFailure: true,
    libvirtLogFilters: "3:remote 4:event",
    capabilitiesCache: undefined,
    terminationMessage: "/dev/termination-log",
    runProbes: false,
    names: {},
    libvirtd: "/usr/sbin/libvirtd",
  });
  const plain = { allowEmulation: false, keepAfterFailure: false, libvirtLogFilters: undefined };
  expect(parseLauncherOptions(lineOf(plain))).toMatchObject(plain);
});

test.each([
  [["--name"], /--name/],
  [["--colour", "red"], /--colour/],
  [["word"], /word/],
  [["--uid", "../x"], /--uid is "\.\.\/x"/],
  [["--uid", ""], /--uid/],
  [["--grace-period-seconds", "1.5"], /--grace-period-seconds is "1.5"; give a whole number/],
  [["--grace-period-seconds", "-1"], /--grace-period-seconds/],
])("rejects %j and names the option", (more, message) => {
  expect(() => parseLauncherOptions([...lineOf(), ...more])).toThrow(message);
  expect(() => parseLauncherOptions([...lineOf(), ...more])).toThrow(
    expect.objectContaining({ code: "LAUNCHER_OPTION" }),
  );
});

test.each(["name", "namespace", "uid", "pod-uid"])("requires --%s", (option) => {
  const line = lineOf();
  line.splice(line.indexOf(`--${option}`), 2);
  expect(() => parseLauncherOptions(line)).toThrow(`--${option} is missing`);
});

test("passes on the platform's names", () => {
  const options = { group: "vm.example.com", directories: { share: "/run/$(POD_UID)$$" } };
  const profile = virtkitLauncherProfile({ names: names(options) });
  expect(parseLauncherOptions(lineOf({}, profile)).names).toEqual(options);
});

test.each(["", "7", "[]", '{"group":7}', '{"directories":[]}', '{"directories":{"share":""}}'])(
  "rejects --names %j",
  (text) => {
    expect(() => parseLauncherOptions([...lineOf(), "--names", text])).toThrow(
      expect.objectContaining({ code: "LAUNCHER_OPTION", path: "--names" }),
    );
  },
);
