import { type Cluster, testImages } from "@virtkit/lab/cluster";

/** What a test says of a VM beyond its name; the parts are added to those that every VM of the tests has. */
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

/** Runs what a request names, as root of the guest: `/cgi-bin/run?COMMAND`. The tests' way into it. */
const userData = `#!/bin/sh
mkdir -p /www/cgi-bin
cat > /www/cgi-bin/run <<'END'
#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\n'
sh -c "$(httpd -d "$QUERY_STRING")" 2>&1
END
chmod 755 /www/cgi-bin/run
`;

/** A VM as a user writes it: a disk from an image, the Pod's network, and cloud-init that lets tests ask the guest. */
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

/** What the guest at an address serves; why not, where it does not. */
export async function reach(address: string, path = "/"): Promise<string> {
  try {
    const answer = await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(5_000) });
    return await answer.text();
  } catch (error) {
    const { message, cause } = error as Error;
    return `not reached: ${message} ${cause ?? ""}`;
  }
}

/** What a command says in the guest at an address. */
export async function askGuest(address: string, command: string): Promise<string> {
  return await reach(address, `/cgi-bin/run?${encodeURIComponent(command)}`);
}

/** The VMs of one namespace, by `kubectl`. */
export interface Guests {
  apply(...objects: readonly object[]): Promise<void>;
  /** One field of an object, as `jsonpath` finds it; empty where there is no such object. */
  field(object: string, path: string): Promise<string>;
  /** The verb of a VM or VMI in the aggregated API, as `virtctl` calls it; its status code. */
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
