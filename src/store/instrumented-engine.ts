import { succeeded, type Telemetry } from "../lib/telemetry.ts";
import type { Engine, Transact } from "./engine.ts";

/** An engine whose transactions are watched, and how long each waits to begin. */
export function instrumentEngine(engine: Engine, system: "sqlite" | "postgresql", telemetry: Telemetry): Engine {
  function watch<R>(transact: (begun: () => void) => Promise<R>): Promise<R> {
    const askedMs = performance.now();
    let waits = true;
    const markBegun = () => {
      // Once, though the work may have to be run again.
      if (waits) telemetry.note("databaseWait", performance.now() - askedMs);
      waits = false;
    };
    return telemetry.watch(
      { kind: "transaction", system },
      () => transact(markBegun),
      () => succeeded,
    );
  }
  const instrumentTransact =
    (transact: Transact): Transact =>
    (work) =>
      watch((begun) =>
        transact((db) => {
          begun();
          return work(db);
        }),
      );
  return {
    ...engine,
    transact: instrumentTransact(engine.transact),
    transactRelaxed: instrumentTransact(engine.transactRelaxed),
    inTurn: (businessId, work) =>
      watch((begun) =>
        engine.inTurn(businessId, (db, turn) => {
          begun();
          return work(db, turn);
        }),
      ),
  };
}
