import { expect, test } from "vitest";
import { targetSelinux } from "./target-selinux.ts";

const own = { runAsUser: 107, seLinuxOptions: { type: "t" } };

test.each([
  ["system_u:object_r:container_file_t:s0:c1,c2", { level: "s0:c1,c2" }],
  ["u:r:t:s0", { level: "s0" }],
  ["u:r:t", { type: "t" }],
  ["u:r:t:", { type: "t" }],
  ["none", { type: "t" }],
])("a source with %s gives the options %j", (context, seLinuxOptions) => {
  expect(targetSelinux(own, context)).toEqual({ runAsUser: 107, seLinuxOptions });
});

test.each([undefined, "", "xyz", "a:b"])("refuses a source with %s", (context) => {
  expect(() => targetSelinux(own, context)).toThrow(
    expect.objectContaining({
      code: "LAUNCHER_POD_SOURCE_INVALID",
      path: "status.selinuxContext",
    }),
  );
});

test("refuses a context that is not a string", () => {
  expect(() => targetSelinux({}, 7 as never)).toThrow(
    expect.objectContaining({ code: "LAUNCHER_POD_SOURCE_INVALID", path: "status.selinuxContext" }),
  );
});
