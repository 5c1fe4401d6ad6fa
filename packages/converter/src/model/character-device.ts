import { aliasElement, type DomainAlias } from "./alias.ts";
import {
  attribute,
  child,
  type ElementType,
  element,
  numberAttribute,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** A serial port. */
export interface DomainSerial extends Extensible {
  type: string;
  source?: DomainSocketSource | undefined;
  log?: DomainSerialLog | undefined;
  target?: DomainSerialTarget | undefined;
  alias?: DomainAlias | undefined;
}

/** A unix socket, and which end of it QEMU is. */
export interface DomainSocketSource extends Extensible {
  mode?: string | undefined;
  path?: string | undefined;
}

/** The file with the output of a port. */
export interface DomainSerialLog extends Extensible {
  file?: string | undefined;
  append?: string | undefined;
}

/** Number of the port in the guest. */
export interface DomainSerialTarget extends Extensible {
  port?: number | undefined;
}

/** The console: the serial port again, under the name that people attach to. */
export interface DomainConsole extends Extensible {
  type: string;
  target?: DomainConsoleTarget | undefined;
  alias?: DomainAlias | undefined;
}

/** What a console is in the guest. */
export interface DomainConsoleTarget extends Extensible {
  type?: string | undefined;
  port?: number | undefined;
}

/** A virtio-serial channel: guest agent, metrics. */
export interface DomainChannel extends Extensible {
  type: string;
  source?: DomainSocketSource | undefined;
  target?: DomainChannelTarget | undefined;
}

/** The channel's name in the guest; `state` is what libvirt reports. */
export interface DomainChannelTarget extends Extensible {
  type: string;
  name?: string | undefined;
  state?: string | undefined;
}

/** A USB device of a remote client. */
export interface DomainRedirectedDevice extends Extensible {
  bus: string;
  type: string;
  source: DomainSocketSource;
}

const socketSourceElement: ElementType<DomainSocketSource> = element(() => ({
  mode: attribute(),
  path: attribute(),
}));

export const serialElement: ElementType<DomainSerial> = element(() => ({
  type: required(attribute()),
  source: child(socketSourceElement),
  log: child(element<DomainSerialLog>(() => ({ file: attribute(), append: attribute() }))),
  target: child(element<DomainSerialTarget>(() => ({ port: numberAttribute() }))),
  alias: child(aliasElement),
}));

export const consoleElement: ElementType<DomainConsole> = element(() => ({
  type: required(attribute()),
  target: child(
    element<DomainConsoleTarget>(() => ({ type: attribute(), port: numberAttribute() })),
  ),
  alias: child(aliasElement),
}));

export const channelElement: ElementType<DomainChannel> = element(() => ({
  type: required(attribute()),
  source: child(socketSourceElement),
  target: child(
    element<DomainChannelTarget>(() => ({
      type: required(attribute()),
      name: attribute(),
      state: attribute(),
    })),
  ),
}));

export const redirectedDeviceElement: ElementType<DomainRedirectedDevice> = element(() => ({
  bus: required(attribute()),
  type: required(attribute()),
  source: required(child(socketSourceElement)),
}));
