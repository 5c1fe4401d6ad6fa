// Keeps one TCP connection open: sends a number, waits until it comes back, and sends the next one. Prints what came
// back, and ends as soon as the connection does.
import { connect } from "node:net";

const [, , host = "", port = ""] = process.argv;
const socket = connect({ host, port: Number(port) });
let next = 0;
const send = () => socket.write(`${next}\n`);
socket.on("connect", send);
let rest = "";
socket.on("data", (chunk) => {
  rest += chunk;
  for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    if (line !== String(next)) process.exit(3);
    process.stdout.write(`${line}\n`);
    next++;
    setTimeout(send, 20);
  }
});
socket.on("error", () => process.exit(2)).on("close", () => process.exit(1));
