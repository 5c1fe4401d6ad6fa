import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";

/** How each interface is attached to the guest; one that is missing here needs nothing of libvirt. */
export function domainAttachments(
  vmi: VirtualMachineInstance,
  config: ClusterConfig,
): Record<string, string> {
  const attachments: Record<string, string> = {};
  for (const source of vmi.spec.domain.devices?.interfaces ?? []) {
    const name = source.name ?? "";
    if (source.masquerade || source.bridge) {
      attachments[name] = "tap";
      continue;
    }
    const plugin = source.binding?.name;
    const type = plugin === undefined ? undefined : pluginAttachment(config, plugin);
    // Who makes the tap device is no concern of the guest's.
    if (type) attachments[name] = type === "managedTap" ? "tap" : type;
  }
  return attachments;
}

function pluginAttachment({ networkBindings }: ClusterConfig, name: string): string | undefined {
  if (!Object.hasOwn(networkBindings, name)) return undefined;
  return networkBindings[name]?.domainAttachmentType;
}
