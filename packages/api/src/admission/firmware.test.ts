import { expect, test } from "vitest";
import { type Change, domainVerdict } from "../testing/verdict.ts";

const at = "spec.domain.firmware";
const kernel = (kernelBoot: Change): Change => ({ firmware: { kernelBoot } });
const container = (rest: Change): Change => kernel({ container: { image: "i", ...rest } });
const path = (kernelPath: string): Change => container({ kernelPath });

test.each<[Change, string[]]>([
  [
    { firmware: { bootloader: { efi: { secureBoot: false }, bios: {} } } },
    [`Invalid ${at}.bootloader`],
  ],
  [kernel({}), []],
  [kernel({ kernelArgs: "quiet" }), [`Invalid ${at}.kernelBoot.kernelArgs`]],
  [container({ kernelPath: "/vmlinuz", initrdPath: "/boot/initrd/" }), []],
  [container({ image: "", kernelPath: "/k" }), [`Required ${at}.kernelBoot.container.image`]],
  [container({}), [`Required ${at}.kernelBoot.container`]],
  [path("/"), [`Invalid ${at}.kernelBoot.container.kernelPath`]],
  [path("vmlinuz"), [`Invalid ${at}.kernelBoot.container.kernelPath`]],
  [path("/a/../b"), [`Invalid ${at}.kernelBoot.container.kernelPath`]],
  [path("/a//b"), [`Invalid ${at}.kernelBoot.container.kernelPath`]],
  [path("/a//"), [`Invalid ${at}.kernelBoot.container.kernelPath`]],
  [container({ initrdPath: "/./i" }), [`Invalid ${at}.kernelBoot.container.initrdPath`]],
  [{ firmware: { bootloader: { efi: {} } } }, ["Invalid spec.domain"]],
  [
    {
      firmware: { bootloader: { efi: { secureBoot: true } } },
      features: { smm: { enabled: false } },
    },
    ["Invalid spec.domain"],
  ],
  [{ firmware: { bootloader: { efi: {} } }, features: { smm: {} } }, []],
  [{ firmware: { bootloader: { efi: { secureBoot: false } } } }, []],
])("%j: %j", (domain, expected) => {
  expect(domainVerdict(domain)).toEqual(expected);
});

test("TDX keeps its keys without SMM", () => {
  const domain = { firmware: { bootloader: { efi: {} } }, launchSecurity: { tdx: {} } };
  expect(domainVerdict(domain, { gates: ["WorkloadEncryptionTDX"] })).toEqual([]);
});
