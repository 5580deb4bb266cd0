import type { SubmissionState } from "../../src/contract/submissions.ts";
import { createSeededRandom, type Random } from "../../src/lib/crypto/random.ts";
import { createSeededIds } from "../../src/lib/ids.ts";
import { createSource, type Source } from "../../src/store/database.ts";
import { type Row, type TableName, tables } from "../../src/store/tables.ts";
import type { Tenant } from "./tenant.ts";

/** A stored row of a table, by column. */
export type Filled = readonly [table: string, values: Readonly<Record<string, unknown>>];

type Common = "businessId" | "version" | "createdAt" | "updatedAt" | "createdBy" | "updatedBy";

/** Creates rows that are the same in each run. */
export class Maker {
  readonly random: Random = createSeededRandom(7);
  readonly newId = createSeededIds(this.random);

  record<T extends TableName>(
    tenant: Tenant,
    table: T,
    atMs: number,
    row: Omit<Row<T>, Common>,
    more: { updatedAt?: string } = {},
  ): Filled {
    const at = isoOf(atMs);
    const own = {
      businessId: tenant.businessId,
      version: 0,
      createdAt: at,
      updatedAt: at,
      createdBy: "usr_office",
      updatedBy: "usr_office",
      ...more,
    };
    const source = createSource(table) as Source<Row<T>>;
    return [table, named(source.codec.names, source.codec.encode({ ...row, ...own } as unknown as Row<T>))];
  }

  /** Yields a record with its member values. */
  *found<T extends TableName>(
    tenant: Tenant,
    table: T,
    atMs: number,
    row: Omit<Row<T>, Common>,
    more: { updatedAt?: string } = {},
  ): Generator<Filled> {
    yield this.record(tenant, table, atMs, row, more);
    const { id, members } = tables[table] as unknown as {
      id: string;
      members: Record<string, (row: unknown) => readonly string[]>;
    };
    const [businessId, createdAt] = [tenant.businessId, isoOf(atMs)];
    for (const [member, valuesOf] of Object.entries(members)) {
      for (const value of valuesOf(row)) {
        yield [
          "members",
          { businessId, tableName: table, member, value, createdAt, id: (row as Record<string, unknown>)[id] },
        ];
      }
    }
  }

  deliveryResult(percent: Readonly<Partial<Record<SubmissionState, number>>>): SubmissionState {
    let left = this.random() * 100;
    const drawn = Object.entries(percent).find(([, share]) => {
      left -= share;
      return left < 0;
    });
    return (drawn?.[0] ?? "DRAFT") as SubmissionState;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

export function named(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}
