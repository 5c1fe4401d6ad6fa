import type { Interface, Port } from "../schema/index.ts";
import { type Cause, duplicate, each, fine, invalid, join, quote, required } from "./cause.ts";
import { isPortName } from "./kubernetes-name.ts";

/** The ports that are forwarded to the guest; for interfaces on the Pod network. */
export function ports(iface: Interface, at: string): readonly Cause[] {
  if (!iface.ports?.length) return fine;
  return join(
    portNames(iface.ports, at),
    each(iface.ports, (port, i) => {
      const field = `${at}.ports[${i}]`;
      return join(portNumber(port, `${field}.port`), protocol(port, `${field}.protocol`));
    }),
  );
}

function portNames(all: readonly Port[], at: string): readonly Cause[] {
  const seen = new Set<string>();
  return each(all, ({ name }, i) => {
    if (!name) return fine;
    const field = `${at}.ports[${i}].name`;
    const taken = seen.has(name);
    seen.add(name);
    return join(
      taken
        ? duplicate(field, `is ${quote(name)}, as in an earlier port; rename one of them`)
        : fine,
      isPortName(name)
        ? fine
        : invalid(
            field,
            `is ${quote(name)}; use at most 15 lower-case letters, digits and single '-', with a letter, no '-' at either end`,
          ),
    );
  });
}

function portNumber({ port = 0 }: Port, field: string): readonly Cause[] {
  if (port === 0) return required(field, "is missing; set the port of the guest, 1 to 65535");
  if (port > 0 && port < 65536) return fine;
  return invalid(field, `is ${quote(port)}; use 1 to 65535`);
}

function protocol(port: Port, field: string): readonly Cause[] {
  if (!port.protocol || port.protocol === "TCP" || port.protocol === "UDP") return fine;
  return invalid(field, `is ${quote(port.protocol)}; use TCP or UDP`);
}
