import { at } from "@virtkit/api/shape";

/** What a command of KubeVirt's `virtctl` v1.9 sends, and what it needs back. */
export interface ClientRequest {
  readonly command: string;
  /** The command line, if it is not the command and the name. */
  readonly line?: string;
  readonly method: "GET" | "PUT";
  /** `{ns}` and `{x}` stand for the namespace and the name given, also in the command line. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly code: number;
  /** The state that the command is for, if it is not a running VM with the strategy Manual. */
  readonly before?: {
    readonly vm?: object;
    readonly status?: object;
    readonly conditions?: object[];
  };
  /** Whether the VM has no VMI, and is Halted. */
  readonly isHalted?: true;
  /** What the node answers. */
  readonly node?: { readonly code: number; readonly body: string };
  /** The subresource, with its query, that reaches the node. */
  readonly sees?: string;
  /** What is in the answer. The client shows it in its own way. */
  readonly says?: string;
  /** Whether the VM is in the state that the command requests. */
  readonly check?: (seen: { readonly vm: unknown }) => boolean;
}

const root = "/apis/subresources.kubevirt.io/v1/namespaces/{ns}";
const vm = `${root}/virtualmachines/{x}`;
const vmi = `${root}/virtualmachineinstances/{x}`;
// REST calls of client-go; options go without a Content-Type.
const rest = { accept: "application/json, */*" };
const paused = { conditions: [{ type: "Paused", status: "True" }] };
const requests = (seen: { vm: unknown }): unknown[] =>
  (at(seen.vm, "status", "stateChangeRequests") as unknown[] | undefined) ?? [];
const volume = {
  name: "v",
  disk: { name: "", disk: { bus: "scsi" }, serial: "v" },
  volumeSource: { persistentVolumeClaim: { claimName: "v", hotpluggable: true } },
};
const json = (code: number, value: object) => ({ code, body: JSON.stringify(value) });

/** The table of requests, command by command. */
export const clientRequests: readonly ClientRequest[] = [
  {
    command: "start",
    method: "PUT",
    path: `${vm}/start`,
    headers: rest,
    body: "{}",
    code: 202,
    isHalted: true,
    check: (seen) => at(seen.vm, "spec", "runStrategy") === "Always",
  },
  {
    command: "start --paused",
    method: "PUT",
    path: `${vm}/start`,
    headers: rest,
    body: '{"paused":true}',
    code: 202,
    isHalted: true,
    check: (seen) => at(requests(seen)[0], "data", "paused") === "true",
  },
  {
    command: "start of a running VM",
    line: "start {x}",
    method: "PUT",
    path: `${vm}/start`,
    headers: rest,
    body: "{}",
    code: 409,
  },
  {
    command: "stop",
    method: "PUT",
    path: `${vm}/stop`,
    headers: rest,
    body: "{}",
    code: 202,
    check: (seen) => at(requests(seen)[0], "action") === "Stop",
  },
  {
    command: "stop --force --grace-period=0",
    method: "PUT",
    path: `${vm}/stop`,
    headers: rest,
    body: '{"gracePeriod":0}',
    code: 202,
    check: (seen) => requests(seen).length === 1,
  },
  {
    command: "restart",
    method: "PUT",
    path: `${vm}/restart`,
    headers: rest,
    body: "{}",
    code: 202,
    check: (seen) => requests(seen).length === 2,
  },
  {
    command: "restart --force --grace-period=0",
    method: "PUT",
    path: `${vm}/restart`,
    headers: rest,
    body: '{"gracePeriodSeconds":0}',
    code: 202,
    check: (seen) => requests(seen).length === 2,
  },
  {
    command: "migrate",
    method: "PUT",
    path: `${vm}/migrate`,
    headers: rest,
    body: "{}",
    code: 202,
  },
  {
    command: "migrate --dry-run",
    method: "PUT",
    path: `${vm}/migrate`,
    headers: rest,
    body: '{"dryRun":["All"]}',
    code: 202,
  },
  {
    command: "pause",
    line: "pause vmi {x}",
    method: "PUT",
    path: `${vmi}/pause`,
    headers: rest,
    body: "{}",
    code: 200,
    sees: "pause",
  },
  {
    command: "unpause",
    line: "unpause vmi {x}",
    method: "PUT",
    path: `${vmi}/unpause`,
    headers: rest,
    body: "{}",
    code: 200,
    before: paused,
    sees: "unpause",
  },
  {
    command: "reset",
    method: "PUT",
    path: `${vmi}/reset`,
    headers: rest,
    code: 200,
    sees: "reset",
  },
  {
    command: "soft-reboot",
    method: "PUT",
    path: `${vmi}/softreboot`,
    headers: rest,
    code: 200,
    sees: "softreboot",
  },
  {
    command: "evacuate-cancel vm",
    method: "PUT",
    path: `${vm}/evacuate/cancel`,
    headers: rest,
    body: '{"evacuationNodeName":""}',
    code: 200,
  },
  {
    command: "guestosinfo",
    method: "GET",
    path: `${vmi}/guestosinfo`,
    headers: rest,
    code: 200,
    node: json(200, { hostname: "h" }),
    sees: "guestosinfo",
    says: '"h"',
  },
  {
    command: "userlist",
    method: "GET",
    path: `${vmi}/userlist`,
    headers: rest,
    code: 200,
    node: json(200, { items: [] }),
    sees: "userlist",
  },
  {
    command: "fslist",
    method: "GET",
    path: `${vmi}/filesystemlist`,
    headers: rest,
    code: 200,
    node: json(200, { items: [] }),
    sees: "filesystemlist",
  },
  {
    command: "addvolume",
    line: "addvolume {x} --volume-name=v --serial=v",
    method: "PUT",
    path: `${vm}/addvolume`,
    headers: rest,
    body: JSON.stringify(volume),
    code: 202,
    check: (seen) =>
      JSON.stringify(at(seen.vm, "spec", "template", "spec", "volumes")).includes(
        '"claimName":"v"',
      ),
  },
  {
    command: "removevolume",
    line: "removevolume {x} --volume-name=v",
    method: "PUT",
    path: `${vm}/removevolume`,
    headers: rest,
    body: '{"name":"v"}',
    code: 202,
    before: {
      vm: {
        template: {
          spec: {
            domain: { devices: { disks: [{ name: "v", disk: { bus: "scsi" } }] } },
            volumes: [{ name: "v", persistentVolumeClaim: { claimName: "v", hotpluggable: true } }],
          },
        },
      },
    },
    check: (seen) => !JSON.stringify(at(seen.vm, "spec", "template")).includes('"claimName":"v"'),
  },
  {
    command: "memory-dump get",
    line: "memory-dump get {x} --claim-name=p",
    method: "PUT",
    path: `${vm}/memorydump`,
    headers: rest,
    body: '{"claimName":"p","phase":""}',
    code: 202,
    check: (seen) => at(seen.vm, "status", "memoryDumpRequest", "phase") === "Associating",
  },
  {
    command: "memory-dump remove",
    method: "PUT",
    path: `${vm}/removememorydump`,
    headers: rest,
    code: 202,
    before: { status: { memoryDumpRequest: { claimName: "p", phase: "Completed" } } },
    check: (seen) => at(seen.vm, "status", "memoryDumpRequest", "remove") === true,
  },
  {
    command: "expand --vm",
    method: "GET",
    path: `${vm}/expand-spec`,
    headers: rest,
    code: 200,
    says: '"VirtualMachine"',
  },
  {
    command: "expand --file",
    line: "expand --file {file}",
    method: "PUT",
    path: `${root}/expand-vm-spec`,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      apiVersion: "kubevirt.io/v1",
      kind: "VirtualMachine",
      metadata: { name: "f" },
      spec: { runStrategy: "Always", template: { spec: { domain: { devices: {} } } } },
    }),
    code: 200,
  },
  {
    command: "vnc screenshot",
    line: "vnc screenshot {x} --file=-",
    method: "GET",
    path: `${vmi}/vnc/screenshot?moveCursor=false`,
    code: 200,
    node: { code: 200, body: "PNG" },
    sees: "vnc/screenshot",
    says: "PNG",
  },
  {
    command: "version",
    line: "version",
    method: "GET",
    path: "/apis/subresources.kubevirt.io/v1/version",
    code: 200,
    says: "v1.9.0",
  },
  {
    command: "version, the group",
    line: "version",
    method: "GET",
    path: "/apis/subresources.kubevirt.io",
    code: 200,
    says: '"subresources.kubevirt.io/v1"',
  },
];
