import { expect, test } from "vitest";
import { serveHealth } from "./health-server.ts";

async function ask(port: number, path: string): Promise<readonly [number, string]> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return [answer.status, await answer.text()];
}

test("reports problems and metrics", async () => {
  const problems: string[] = [];
  let fails = false;
  const metrics = async (): Promise<string> => {
    if (fails) throw new Error("no memory");
    return "up 1\n";
  };
  await using server = await serveHealth(() => problems, { port: 0, metrics });
  expect(await ask(server.port, "/healthz")).toEqual([200, "ok"]);
  expect(await ask(server.port, "/metrics")).toEqual([200, "up 1\n"]);
  expect(await ask(server.port, "/else")).toEqual([404, "not here"]);
  problems.push("the watch of VMIs is blind", "so is that of Pods");
  expect(await ask(server.port, "/healthz")).toEqual([503, problems.join("\n")]);
  fails = true;
  expect(await ask(server.port, "/metrics")).toEqual([500, "Error: no memory"]);
});

test("has no metrics unless they are given", async () => {
  await using server = await serveHealth(() => [], { port: 0 });
  expect((await ask(server.port, "/metrics"))[0]).toBe(404);
});
