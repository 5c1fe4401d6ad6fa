import { testImages } from "../cluster/test-images.ts";

/** A container that runs a shell script; its PID 1 is the shell. */
export function shell(script: string, more: object = {}): object {
  return {
    name: "main",
    image: testImages.launcher,
    imagePullPolicy: "Never",
    command: ["sh", "-c", script],
    ...more,
  };
}

/** A shell script that does nothing, and ends when it is asked to. */
export const idle = "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done";
