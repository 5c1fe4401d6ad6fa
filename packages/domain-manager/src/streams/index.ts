export { dialUnixSocket, type GuestDialer } from "./dial-unix-socket.ts";
export { GuestSocket, type GuestSocketOptions, type OpenOptions } from "./guest-socket.ts";
