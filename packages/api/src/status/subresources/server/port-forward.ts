import { parseIp } from "../../../addresses/index.ts";
import { at, objects, text } from "../../../shape.ts";
import { badRequest } from "../outcome.ts";
import { vmiSubresourceObstacle } from "../vmi-preconditions.ts";
import type { SubresourcePlan } from "./subresource-plan.ts";
import type { SubresourceContext, SubresourceRequest } from "./subresource-request.ts";
import { vmiOf } from "./vmi-of.ts";

/** `portforward/PORT[/PROTOCOL]`: a connection to the first address of the guest. */
export async function planPortForward(
  request: SubresourceRequest,
  context: SubresourceContext,
): Promise<SubresourcePlan> {
  const found = await vmiOf(request, context);
  if ("kind" in found) return found;
  const { vmi } = found;
  const obstacle = vmiSubresourceObstacle("portforward", { vmi });
  if (obstacle) return obstacle;
  const [port = "", protocol = "tcp"] = request.parameters;
  if (!/^[1-9][0-9]{0,4}$/.test(port) || Number(port) > 65_535) {
    return badRequest(`the port is ${JSON.stringify(port.slice(0, 20))}; use 1 to 65535`);
  }
  if (protocol !== "tcp" && protocol !== "udp") {
    return badRequest(`the protocol is ${JSON.stringify(protocol.slice(0, 20))}; use tcp or udp`);
  }
  const [first] = objects(at(vmi, "status", "interfaces"));
  const address = text(first?.["ipAddress"]);
  if (parseIp(address) === undefined) {
    return badRequest("the VMI has no address yet; wait until it has started");
  }
  return { kind: "dial", protocol, address, port: Number(port) };
}
