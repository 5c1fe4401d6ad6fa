/** The call to the launcher that a request becomes. */
export type LauncherCall =
  | { readonly verb: PlainVerb }
  | { readonly verb: "freeze"; readonly unfreezeAfterSeconds: number }
  | { readonly verb: "backup"; readonly options: JsonObject }
  | { readonly verb: "redefineCheckpoint"; readonly checkpoint: JsonObject }
  | { readonly verb: "injectLaunchSecret"; readonly options: JsonObject };

/** The verbs without arguments. */
export type PlainVerb =
  | "pause"
  | "unpause"
  | "unfreeze"
  | "softReboot"
  | "reset"
  | "screenshot"
  | "guestInfo"
  | "users"
  | "fileSystems"
  | "sevInfo"
  | "launchMeasurement";

/** A part of a body that the launcher interprets. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** How a call ended. */
export type CallOutcome =
  | { readonly done: true; readonly value?: unknown }
  | {
      readonly done: false;
      readonly message: string;
      /** For a checkpoint: it can never be defined again, so a retry cannot help. */
      readonly invalid?: boolean;
    };
