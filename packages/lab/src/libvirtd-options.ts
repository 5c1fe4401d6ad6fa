import type { SandboxNetwork } from "./sandbox.ts";

/** How `startLibvirtd` starts a daemon. */
export interface LibvirtdOptions {
  /** Host name inside; two daemons that migrate between them need different ones. Default `lab`. */
  readonly hostname?: string;
  /**
   * A network of its own, with only `lo` in it (the default), the one of this process, or that of a
   * namespace's file, where guests may then open TAPs that belong to uid 107.
   */
  readonly network?: SandboxNetwork;
  /** Makes `/dev/kvm` usable, so that domains of type kvm can be defined. Default: software only. */
  readonly kvm?: boolean;
  /** `max_client_requests` of the daemon; libvirt's own default is 5. */
  readonly maxClientRequests?: number;
  /** Also listen on this TCP port of 127.0.0.1, without authentication. */
  readonly tcpPort?: number;
  /** Also listen for TLS on 127.0.0.1, with these files; clients need a certificate of the same CA. */
  readonly tls?: {
    readonly port: number;
    readonly ca: string;
    readonly certificate: string;
    readonly key: string;
  };
}
