import type { VirtualMachineInstance } from "../schema/index.ts";
import type { BindingPlugins } from "./multus-annotation.ts";

/**
 * How each interface is attached to the guest, by name; an interface that is missing needs nothing from
 * libvirt. Plugins say themselves how they are attached.
 */
export function domainAttachments(
  vmi: VirtualMachineInstance,
  plugins: BindingPlugins = {},
): Readonly<Record<string, string>> {
  const attachments: Record<string, string> = {};
  for (const { name = "", masquerade, bridge, binding } of vmi.spec?.domain?.devices?.interfaces ??
    []) {
    const plugin = binding?.name;
    const known = plugin !== undefined && Object.hasOwn(plugins, plugin);
    const type = masquerade || bridge ? "tap" : known && plugins[plugin]?.domainAttachmentType;
    // Who creates the TAP does not matter to the guest.
    if (type) attachments[name] = type === "managedTap" ? "tap" : type;
  }
  return attachments;
}
