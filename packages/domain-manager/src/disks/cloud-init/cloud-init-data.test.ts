import { inspect } from "node:util";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import type { MountedSecrets } from "../mounted-secrets.ts";
import { sealText } from "../sealed.ts";
import { hasUserData, readCloudInit } from "./cloud-init-data.ts";

type Spec = Partial<VirtualMachineInstance["spec"]>;

function vmi(
  spec: Spec,
  metadata: VirtualMachineInstance["metadata"] = {},
): VirtualMachineInstance {
  return {
    metadata: { name: "vm1", namespace: "ns", ...metadata },
    spec: { domain: { devices: {}, firmware: { uuid: "u-1" } }, ...spec },
  };
}

function secrets(
  files: Readonly<Record<string, Readonly<Record<string, string>>>>,
): MountedSecrets {
  return new Map(
    Object.entries(files).map(([directory, content]) => [
      directory,
      new Map(Object.entries(content).map(([name, text]) => [name, sealText(text)])),
    ]),
  );
}

const none: MountedSecrets = new Map();
const text = (sealed: { reveal(): Uint8Array } | undefined): string =>
  new TextDecoder().decode(sealed?.reveal());

test("a VMI without a cloud-init volume has no cloud-init data", () => {
  expect(
    readCloudInit(vmi({ volumes: [{ name: "a", emptyDisk: { capacity: "1Gi" } }] }), none),
  ).toBe(undefined);
});

test("uses the first cloud-init volume, whichever form it has", () => {
  const volumes = [
    { name: "a", cloudInitConfigDrive: { userData: "cd" } },
    { name: "b", cloudInitNoCloud: { userData: "nc" } },
  ];
  expect(readCloudInit(vmi({ volumes }), none)).toMatchObject({
    source: "configDrive",
    volumeName: "a",
  });
  volumes.reverse();
  expect(readCloudInit(vmi({ volumes }), none)).toMatchObject({
    source: "noCloud",
    volumeName: "b",
  });
});

test("prefers a Secret to plain text, and plain text to base64", () => {
  const volumes = [
    {
      name: "ci",
      cloudInitNoCloud: { userData: "plain", userDataBase64: "YjY0", secretRef: { name: "s" } },
    },
  ];
  const read = (mounted: MountedSecrets) =>
    text(readCloudInit(vmi({ volumes }), mounted)?.userData);
  expect(read(secrets({ ci: { userdata: "lower", userData: "camel" } }))).toBe("lower");
  expect(read(secrets({ ci: { userData: "camel" } }))).toBe("camel");
  expect(read(secrets({ ci: { userdata: "" } }))).toBe("plain");
  expect(read(none)).toBe("plain");
});

test("needs at least one of two named Secrets", () => {
  const volumes = [
    {
      name: "ci",
      cloudInitNoCloud: { secretRef: { name: "s" }, networkDataSecretRef: { name: "n" } },
    },
  ];
  expect(() => readCloudInit(vmi({ volumes }), secrets({ ci: { other: "x" } }))).toThrow(
    expect.objectContaining({
      code: "DISK_SOURCE_MISSING",
      path: "spec.volumes[0].cloudInitNoCloud.secretRef",
    }),
  );
  const data = readCloudInit(vmi({ volumes }), secrets({ ci: { networkdata: "net" } }));
  expect(text(data?.networkData)).toBe("net");
  expect(data && hasUserData(data)).toBe(false);
});

test("the Secret of a second cloud-init volume does not reach the first", () => {
  const volumes = [
    { name: "a", cloudInitNoCloud: { userData: "mine" } },
    { name: "b", cloudInitNoCloud: { secretRef: { name: "s" } } },
  ];
  expect(
    text(readCloudInit(vmi({ volumes }), secrets({ b: { userdata: "theirs" } }))?.userData),
  ).toBe("mine");
});

test("rejects missing data, and broken base64 with its position", () => {
  expect(() =>
    readCloudInit(vmi({ volumes: [{ name: "ci", cloudInitNoCloud: {} }] }), none),
  ).toThrow(expect.objectContaining({ code: "DISK_CLOUD_INIT_EMPTY" }));
  const broken = { networkData: "n", userDataBase64: "YWJj*" };
  expect(() =>
    readCloudInit(vmi({ volumes: [{ name: "ci", cloudInitConfigDrive: broken }] }), none),
  ).toThrow(
    expect.objectContaining({
      code: "DISK_BASE64_INVALID",
      path: "spec.volumes[0].cloudInitConfigDrive.userDataBase64",
      offset: 4,
    }),
  );
});

test("takes keys of the volume's own form, by file name, without the kubelet's files", () => {
  const credential = (secretName: string, form: "noCloud" | "configDrive") => ({
    sshPublicKey: { source: { secret: { secretName } }, propagationMethod: { [form]: {} } },
  });
  const subject = vmi({
    volumes: [{ name: "ci", cloudInitNoCloud: { userData: "x" } }],
    accessCredentials: [credential("k", "noCloud"), credential("c", "configDrive")],
  });
  const mounted = secrets({
    "k-access-cred": { b: "B", a: "A", empty: "", "..data": "no", "sub/x": "no", ".hidden": "H" },
  });
  const keys = readCloudInit(subject, mounted)?.metadata.publicKeys;
  expect(keys?.map((key) => key.reveal())).toEqual(["H", "A", "B"]);
  expect(() => readCloudInit(subject, none)).toThrow(
    expect.objectContaining({ code: "DISK_SOURCE_MISSING", path: "k-access-cred" }),
  );
});

test("the guest's identity: firmware, names and instance type", () => {
  const volumes = [{ name: "ci", cloudInitConfigDrive: { userData: "x" } }];
  const annotations = {
    "kubevirt.io/instancetype-name": "mine",
    "kubevirt.io/cluster-instancetype-name": "u1.small",
  };
  const newUuid = () => "drawn";
  const read = (subject: VirtualMachineInstance) =>
    readCloudInit(subject, none, { newUuid })?.metadata;
  expect(read(vmi({ volumes }, { name: "a.b", annotations }))).toMatchObject({
    instanceId: "a.b.ns",
    hostname: "a",
    uuid: "u-1",
    instanceType: "u1.small",
  });
  expect(read(vmi({ volumes, hostname: "My.Host", domain: { devices: {} } }))).toMatchObject({
    hostname: "My.Host",
    uuid: "drawn",
  });
  expect(read(vmi({ volumes, domain: { devices: {}, firmware: {} } }))?.uuid).toBe("");
  expect(read(vmi({ volumes }, { name: "x".repeat(70) }))?.hostname).toHaveLength(63);
});

test("printed or logged data does not show its content", () => {
  const volumes = [{ name: "ci", cloudInitNoCloud: { userData: "password: hunter2" } }];
  const data = readCloudInit(vmi({ volumes }), none);
  expect(inspect(data, { depth: 9, showHidden: true }) + JSON.stringify(data)).not.toContain(
    "hunter2",
  );
});
