export type { Listener } from "./accept-connections.ts";
export { type ConnectOptions, connectUnix } from "./connect-unix.ts";
export { connectVsock, type VsockAddress, type VsockConnectOptions } from "./connect-vsock.ts";
export { type Datagram, receiveDatagram, sendDatagram } from "./datagrams.ts";
export {
  type ReceiveOptions,
  receiveDescriptors,
  sendDescriptors,
  socketPair,
} from "./fd-passing.ts";
export { listenTcp, type TcpListener } from "./listen-tcp.ts";
export { type ListenOptions, listenUnix, type UnixListener } from "./listen-unix.ts";
export { listenVsock, vsockHostCid } from "./listen-vsock.ts";
export { openSocket, type SocketSpec } from "./open-socket.ts";
export { type Peer, peerOf, peerUser } from "./peer.ts";
export type { InternetAddress } from "./socket-address.ts";
export { socketStream } from "./socket-stream.ts";
export { type ReadableOptions, whenReadable } from "./when-readable.ts";
