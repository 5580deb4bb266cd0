import { type Filled, Maker } from "./maker.ts";
import { submission } from "./submission.ts";
import { endMs, type Landmarks, spanMs, type Tenant, tenant } from "./tenant.ts";

/** One tenant has half of all rows. It is the one that is measured. */
const shares = [0.5, 0.25, 0.13, 0.08, 0.04];

/** Creates the rows of this many submissions in order of time, the same in each run. */
export class Rows {
  readonly #maker = new Maker();
  readonly #tenants: Tenant[] = [];
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  get landmarks(): Landmarks {
    return this.#tenants[0] as Landmarks;
  }

  *all(): Generator<Filled> {
    for (const share of shares) this.#tenants.push(yield* tenant(this.#maker, share, this.#size));
    for (let index = 0; index < this.#size; index++) {
      const atMs = endMs - spanMs + Math.floor((index / this.#size) * spanMs);
      yield* submission(this.#maker, this.#tenantBy(this.#maker.random()), atMs);
    }
  }

  #tenantBy(chance: number): Tenant {
    let left = chance;
    const drawn = this.#tenants.find(({ share }) => {
      left -= share;
      return left < 0;
    });
    return drawn ?? (this.#tenants[0] as Tenant);
  }
}
