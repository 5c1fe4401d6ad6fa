import { type Cluster, testImages } from "@virtkit/lab/cluster";
import { fieldAt } from "./field-at.ts";

/** What a test specifies about a VM besides its name; the parts are added to those that every VM of the tests has. */
export interface GuestOptions {
  readonly runStrategy?: string;
  /** The node that it must run on. */
  readonly node?: string;
  readonly interfaces?: readonly object[];
  readonly disks?: readonly object[];
  readonly volumes?: readonly object[];
  readonly domain?: object;
  readonly devices?: object;
  readonly spec?: object;
}

/** Runs the command in a request as root of the guest: `/cgi-bin/run?COMMAND`. This is how tests get into it. */
const userData = `#!/bin/sh
mkdir -p /www/cgi-bin
cat > /www/cgi-bin/run <<'END'
#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\n'
sh -c "$(httpd -d "$QUERY_STRING")" 2>&1
END
chmod 755 /www/cgi-bin/run
`;

/** A VM as a user would write it: a disk from an image, the Pod's network, and cloud-init that lets tests query the guest. */
export function vmOf(name: string, options: GuestOptions = {}): object {
  const { runStrategy = "Always", node, interfaces, disks = [], volumes = [] } = options;
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachine",
    metadata: { name },
    spec: {
      runStrategy,
      template: {
        metadata: { labels: { guest: name } },
        spec: {
          terminationGracePeriodSeconds: 20,
          ...(node && { nodeSelector: { "kubernetes.io/hostname": node } }),
          domain: {
            memory: { guest: "128Mi" },
            ...options.domain,
            devices: {
              disks: [
                { name: "root", disk: { bus: "virtio" } },
                { name: "init", disk: { bus: "virtio" } },
                ...disks,
              ],
              interfaces: interfaces ?? [
                { name: "default", masquerade: {}, ports: [{ port: 80 }] },
              ],
              ...options.devices,
            },
          },
          networks: [{ name: "default", pod: {} }],
          volumes: [
            {
              name: "root",
              containerDisk: { image: testImages.disk, imagePullPolicy: "IfNotPresent" },
            },
            { name: "init", cloudInitNoCloud: { userData } },
            ...volumes,
          ],
          ...options.spec,
        },
      },
    },
  };
}

/** What the guest at an address serves, or why it serves nothing. */
export async function reach(address: string, path = "/"): Promise<string> {
  try {
    const answer = await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(5_000) });
    return await answer.text();
  } catch (error) {
    const { message, cause } = error as Error;
    return `not reached: ${message} ${cause ?? ""}`;
  }
}

/** The output of a command in the guest at an address. */
export async function askGuest(address: string, command: string): Promise<string> {
  return await reach(address, `/cgi-bin/run?${encodeURIComponent(command)}`);
}

const own = "/apis/kubevirt.io/v1";
const kinds = {
  vm: { api: own, plural: "virtualmachines" },
  vmi: { api: own, plural: "virtualmachineinstances" },
  vmirs: { api: own, plural: "virtualmachineinstancereplicasets" },
  pod: { api: "/api/v1", plural: "pods" },
} as const;

/** A kind of object, by its short name. */
export type GuestKind = keyof typeof kinds;

/** The VMs of one namespace. Whatever tests wait for is read without `kubectl`; see {@link fieldAt}. */
export interface Guests {
  apply(...objects: readonly object[]): Promise<void>;
  /** One field of an object; empty if there is no such object. */
  field(object: `${GuestKind}/${string}`, path: string): Promise<string>;
  /** All objects of these kinds, as `KIND/NAME`. */
  objects(...kinds: readonly GuestKind[]): Promise<readonly string[]>;
  /** Calls a verb of a VM or VMI in the aggregated API, as `virtctl` does. Returns the status code. */
  verb(object: string, verb: string, body?: object): Promise<number>;
  kubectl(...args: readonly string[]): Promise<string>;
}

/** The view of one namespace. */
export function guestsIn(cluster: Cluster, namespace: string): Guests {
  const kubectl = async (...args: readonly string[]): Promise<string> =>
    await cluster.kubectl([...args, "-n", namespace]);
  return {
    kubectl,
    async apply(...objects) {
      const list = { apiVersion: "v1", kind: "List", items: objects };
      await cluster.kubectl(["apply", "-n", namespace, "-f", "-"], { input: JSON.stringify(list) });
    },
    async field(object, path) {
      const [kind, name] = object.split("/") as [GuestKind, string];
      const { status, body } = await cluster.request(`${pathOf(kind, namespace)}/${name}`);
      if (status !== 200 && status !== 404) {
        throw new Error(`${object}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
      }
      return status === 200 ? fieldAt(body, path) : "";
    },
    async objects(...listed) {
      const found = listed.map(async (kind) => {
        const { status, body } = await cluster.request(pathOf(kind, namespace));
        const { items } = body as { readonly items?: readonly Named[] };
        if (status !== 200 || !items) throw new Error(`${kind}: the list failed with ${status}`);
        return items.map(({ metadata }) => `${kind}/${metadata.name}`);
      });
      return (await Promise.all(found)).flat();
    },
    async verb(object, verb, body = {}) {
      const [kind = "", name = ""] = object.split("/");
      const plural = kind === "vm" ? "virtualmachines" : "virtualmachineinstances";
      const path = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/${plural}/${name}/${verb}`;
      return (await cluster.request(path, { method: "PUT", body })).status;
    },
  };
}

interface Named {
  readonly metadata: { readonly name: string };
}

function pathOf(kind: GuestKind, namespace: string): string {
  const { api, plural } = kinds[kind];
  return `${api}/namespaces/${namespace}/${plural}`;
}
