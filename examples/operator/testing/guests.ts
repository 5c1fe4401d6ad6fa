import { type Cluster, testImages } from "@virtkit/lab/cluster";

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

/** The VMs of one namespace, through `kubectl`. */
export interface Guests {
  apply(...objects: readonly object[]): Promise<void>;
  /** One field of an object, found by `jsonpath`; empty if there is no such object. */
  field(object: string, path: string): Promise<string>;
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
    field: async (object, path) =>
      await kubectl("get", object, "--ignore-not-found", "-o", `jsonpath={${path}}`),
    async verb(object, verb, body = {}) {
      const [kind = "", name = ""] = object.split("/");
      const plural = kind === "vm" ? "virtualmachines" : "virtualmachineinstances";
      const path = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/${plural}/${name}/${verb}`;
      return (await cluster.request(path, { method: "PUT", body })).status;
    },
  };
}
