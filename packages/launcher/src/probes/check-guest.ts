import { connect } from "node:net";
import type { GuestControl } from "@virtkit/domain-manager";
import type { ProbeAction, ProbePlan } from "./plan-probes.ts";

/** What a check asks the guest through. */
export type CheckedGuest = Pick<GuestControl, "exec" | "guestPing">;

/** Runs one check of a guest. Rejects, with a reason for people, if the guest fails it. */
export async function checkGuest(
  guest: CheckedGuest,
  { action, timeout: timeoutSeconds }: Pick<ProbePlan, "action" | "timeout">,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  switch (action.kind) {
    case "agent":
      return await guest.guestPing({ timeoutSeconds }, { signal });
    case "exec": {
      const { command, args } = action;
      const { exitCode, stderr, stdout } = await guest.exec(
        { command, args, timeoutSeconds },
        { signal },
      );
      if (exitCode === 0) return;
      const said = (stderr || stdout).trim();
      throw new Error(`${command} exited with ${exitCode}${said === "" ? "" : `: ${said}`}`);
    }
    case "tcp":
      return await checkTcp(action, signal);
    case "http": {
      // Loaded on use: few guests are checked over HTTP.
      const { checkHttp } = await import("./check-http.ts");
      return await checkHttp(action, { signal });
    }
  }
}

async function checkTcp(
  { host, port }: Extract<ProbeAction, { kind: "tcp" }>,
  signal: AbortSignal,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}
