import type { ProductToken, ProductTokenKey } from "../../contract/access/product-tokens.ts";

/** The product tokens of people and organisations. */
export interface ProductTokenStore {
  find(key: ProductTokenKey): Promise<ProductToken | undefined>;
  /** Saves a token, in place of an earlier one of the same holder. */
  save(token: ProductToken): Promise<void>;
  remove(key: ProductTokenKey): Promise<void>;
}
