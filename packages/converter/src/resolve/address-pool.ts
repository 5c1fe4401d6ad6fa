/** The addresses that device plugins put into the launcher's environment, each assigned once. */
export class AddressPool {
  readonly #byResource = new Map<string, string[]>();

  /** `prefix` is the plugin's: `PCI_RESOURCE` gives `PCI_RESOURCE_VENDOR_COM_GPU`. */
  constructor(env: Readonly<Record<string, string>>, prefix: string, resources: readonly string[]) {
    for (const resource of resources) {
      const value = env[variableName(prefix, resource)];
      if (value === undefined) continue;
      const list = value.endsWith(",") ? value.slice(0, -1) : value;
      this.#byResource.set(resource, list === "" ? [] : list.split(","));
    }
  }

  /** The next address of a resource; `undefined` if there is none. No resource assigns it again. */
  take(resource: string): string | undefined {
    const [address] = this.#byResource.get(resource) ?? [];
    if (address === undefined) return undefined;
    for (const [name, addresses] of this.#byResource) {
      this.#byResource.set(
        name,
        addresses.filter((other) => other !== address),
      );
    }
    return address;
  }
}

function variableName(prefix: string, resource: string): string {
  return `${prefix}_${resource.toUpperCase().replaceAll("/", "_").replaceAll(".", "_")}`;
}
