import type { PageOf } from "../contract/definition/operation.ts";
import type { OperationName, Result } from "../contract/index.ts";
import type { PortalActionArguments, PortalActionName, PortalActionResult } from "../contract/portal.ts";
import type { Reader } from "../store/port.ts";

type Data<Name extends OperationName> = Result<Name> extends PageOf<infer Row> ? readonly Row[] : Result<Name>;

/** Where a season is played: the interface by token, the desk, and the calendar. */
export interface SeasonContext {
  call<Name extends OperationName>(
    name: Name,
    input: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly data: Data<Name>; readonly lastEvaluatedKey?: string | undefined }>;
  act<Name extends PortalActionName>(name: Name, given: PortalActionArguments<Name>): Promise<PortalActionResult<Name>>;
  /** What the organisation's pages show to those who have no token. */
  readonly reader: Reader;
  /** Waits until that day of the season, which may be part of one. */
  until(day: number): Promise<void>;
}

export interface SeasonSize {
  readonly applicants: number;
  readonly reviewers: number;
}

/** The days on which the season's parts begin. */
export const calendar = { opens: 0, closes: 40, screening: 42, reading: 45, panel: 65, awards: 80, ends: 85 } as const;
