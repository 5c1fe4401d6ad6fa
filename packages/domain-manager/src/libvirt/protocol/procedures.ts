import { blockProcedures } from "./block-procedures.ts";
import { connectProcedures } from "./connect-procedures.ts";
import { domainProcedures } from "./domain-procedures.ts";
import { guestProcedures } from "./guest-procedures.ts";
import { migrationProcedures } from "./migration-procedures.ts";
import { nodeProcedures } from "./node-procedures.ts";
import type { GivenFields, ReceivedFields } from "./notation.ts";

type Procedures = typeof connectProcedures &
  typeof domainProcedures &
  typeof blockProcedures &
  typeof guestProcedures &
  typeof migrationProcedures &
  typeof nodeProcedures;

/** Every procedure that this client can call. */
export const procedures: Procedures = {
  ...connectProcedures,
  ...domainProcedures,
  ...blockProcedures,
  ...guestProcedures,
  ...migrationProcedures,
  ...nodeProcedures,
};

/** The name of a procedure. */
export type ProcedureName = keyof Procedures;

/** What a procedure takes. */
export type Arguments<Name extends ProcedureName> = GivenFields<Procedures[Name]["args"]>;

/** What a procedure answers. */
export type Result<Name extends ProcedureName> = ReceivedFields<Procedures[Name]["result"]>;
