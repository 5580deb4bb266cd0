/** The first rows of many in an order, of which no more are held than twice as many as are wanted. */
export interface Ranking<Row> {
  /** The number of rows that were added. */
  readonly count: number;
  add(row: Row): void;
  /** Returns the first rows in order. */
  list(): Row[];
}

export function createRanking<Row>(limit: number, compare: (a: Row, b: Row) => number): Ranking<Row> {
  let rows: Row[] = [];
  let count = 0;
  const cut = () => {
    rows = rows.sort(compare).slice(0, limit);
  };
  return {
    get count() {
      return count;
    },
    add(row) {
      count += 1;
      rows.push(row);
      if (rows.length >= 2 * limit) cut();
    },
    list() {
      cut();
      return rows;
    },
  };
}
