/** Sends reviews to a server from its own process: 8 at a time, over kept connections. */
import { Agent, request } from "node:https";

const { tls, review } = JSON.parse(process.argv[2] ?? "{}");
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const path = "/virtualmachineinstances-validate-create";

function post() {
  return new Promise((resolve, reject) => {
    const call = request({ ...tls, agent, method: "POST", path }, (response) => {
      response.resume();
      response.once("end", () => resolve(undefined));
    });
    call.once("error", reject);
    call.end(review);
  });
}

/** @param {number} count */
async function send(count) {
  const each = Array.from({ length: 8 }, async () => {
    for (let i = 0; i < count / 8; i++) await post();
  });
  await Promise.all(each);
  process.send?.({ done: true });
}

process.on("message", (/** @type {{ count: number }} */ { count }) => void send(count));
process.send?.({ ready: true });
