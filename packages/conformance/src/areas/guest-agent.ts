import {
  AgentReply,
  readAgentInfo,
  readFileSystems,
  readFsFreeze,
} from "@virtkit/domain-manager/agent";
import type { BatchFunction } from "../batch/batch-area.ts";
import { stringField } from "./input-fields.ts";

/** The functions of area `guest-agent`: raw replies to values, by the names of KubeVirt's fields. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "agent-info": reading("guest-info", (reply) => {
    const { version, commands } = readAgentInfo(reply);
    return { version, ...(commands.length > 0 ? { supported_commands: commands } : {}) };
  }),
  "agent-filesystems": reading("guest-get-fsinfo", (reply) =>
    readFileSystems(reply).map((fileSystem) => ({
      Name: fileSystem.diskName,
      Mountpoint: fileSystem.mountPoint,
      Type: fileSystem.fileSystemType,
      UsedBytes: fileSystem.usedBytes,
      TotalBytes: fileSystem.totalBytes,
      Disk: fileSystem.disks.map(({ serial = "", busType }) => ({
        Serial: serial,
        BusType: busType,
      })),
    })),
  ),
  "agent-fsfreeze": reading("guest-fsfreeze-status", readFsFreeze),
};

/** As much as libvirt passes on. */
const longest = 1 << 22;

/** Unreadable input throws, which `virtkit batch` answers as an error. */
function reading(command: string, read: (reply: AgentReply) => unknown): BatchFunction {
  return (input) => ({
    value: read(AgentReply.parse(command, stringField(input, "reply"), longest)),
  });
}
