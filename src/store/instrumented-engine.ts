import { succeeded, type Telemetry } from "../lib/telemetry.ts";
import type { Engine, Transact } from "./engine.ts";

/** Wraps an engine so that its transactions are traced and their waiting times measured, and reads of replicas counted. */
export function instrumentEngine(engine: Engine, system: "sqlite" | "postgresql", telemetry: Telemetry): Engine {
  function watch<R>(transact: (begun: () => void) => Promise<R>): Promise<R> {
    const askedMs = performance.now();
    let waits = true;
    const markBegun = () => {
      // Measured once, even if the work runs again.
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
  const { chooseRead } = engine;
  return {
    ...engine,
    ...(chooseRead && {
      async chooseRead(businessId) {
        const db = await chooseRead(businessId);
        telemetry.note("listRead", db === engine.read ? "primary" : "replica");
        return db;
      },
    }),
    transact: instrumentTransact(engine.transact),
    transactRelaxed: instrumentTransact(engine.transactRelaxed),
    transactSerially: (businessId, work) =>
      watch((begun) =>
        engine.transactSerially(businessId, (db, commitNumber) => {
          begun();
          return work(db, commitNumber);
        }),
      ),
  };
}
