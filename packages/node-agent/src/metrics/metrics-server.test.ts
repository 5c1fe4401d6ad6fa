import { expect, onTestFinished, test } from "vitest";
import { type MetricsServerOptions, startMetricsServer } from "./metrics-server.ts";
import { nodeSamples } from "./node-samples.ts";
import { prometheusText } from "./prometheus-text.ts";

async function serve(
  options: Partial<MetricsServerOptions>,
): Promise<(path: string, method?: string) => Promise<Response>> {
  const server = await startMetricsServer({
    ...{ address: "127.0.0.1", port: 0, collect: async () => "" },
    ...options,
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return async (path, method = "GET") =>
    await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
}

test("serves metrics and health, and nothing else", async () => {
  let problems: string[] = [];
  const collect = async (): Promise<string> => prometheusText(nodeSamples("n1", { ready: true }));
  const get = await serve({ collect, problems: () => problems });
  expect(await (await get("/metrics")).text()).toContain(
    "kubevirt_virt_handler_ready_status{} 1\n",
  );
  expect((await get("/healthz")).status).toBe(200);
  problems = ["the state directory is full"];
  expect((await get("/healthz")).status).toBe(500);
  expect((await get("/debug/pprof")).status).toBe(404);
  expect((await get("/metrics", "POST")).status).toBe(405);
});

test("limits concurrent scrapes, and reports one that fails", async () => {
  let end = (): void => {};
  const first = new Promise<string>((resolve) => {
    end = () => resolve("first\n");
  });
  let calls = 0;
  const collect = async (): Promise<string> => {
    calls++;
    if (calls === 1) return await first;
    throw new Error("no");
  };
  const get = await serve({ collect, scrapes: 1 });
  const waiting = get("/metrics");
  await expect.poll(() => calls).toBe(1);
  expect((await get("/metrics")).status).toBe(503);
  end();
  expect(await (await waiting).text()).toBe("first\n");
  expect((await get("/metrics")).status).toBe(500);
});
