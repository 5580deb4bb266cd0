/**
 * Runs work in a transaction that is rolled back, and returns its result.
 * @param transact - runs a function in a transaction, and rolls it back if the function throws
 */
export async function runRolledBack<T, R>(
  transact: (work: (transaction: T) => Promise<never>) => Promise<never>,
  work: (transaction: T) => Promise<R>,
): Promise<R> {
  const rollback = new RollbackSignal<R>("The dry run is rolled back");
  try {
    return await transact(async (transaction) => {
      rollback.done = { result: await work(transaction) };
      throw rollback;
    });
  } catch (error) {
    if (error === rollback && rollback.done) return rollback.done.result;
    throw error;
  }
}

/** Rolls back a transaction and carries its result out. */
class RollbackSignal<R> extends Error {
  done?: { readonly result: R };
}
