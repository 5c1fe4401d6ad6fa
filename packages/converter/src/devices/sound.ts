import { invalidVmi } from "../converter-error.ts";
import type { Configurator, Draft } from "../draft.ts";
import { userAlias } from "../model/alias.ts";

export const sound: Configurator = {
  name: "sound",
  summary: "A sound card, ich9 by default or ac97.",
  configure({ devices, domain }: Draft): void {
    if (!devices.sound) return;
    const model = devices.sound.model || "ich9";
    if (model !== "ich9" && model !== "ac97") {
      const path = "spec.domain.devices.sound.model";
      throw invalidVmi(path, `"${model}" is not a sound card; use ich9 or ac97`);
    }
    domain.devices.sounds.push({ model, alias: userAlias(devices.sound.name) });
  },
};
