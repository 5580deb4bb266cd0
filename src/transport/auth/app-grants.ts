import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { authenticateApp, isAppToken } from "../../pipeline/steps/authenticate.ts";
import type { ProductTokenAdmin } from "../../pipeline/users/product-token-admin.ts";
import type { Store } from "../../store/port.ts";
import type { ResolveGrant } from "../../upstream/gateway.ts";

export interface AppGrantDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly productTokens: Pick<ProductTokenAdmin, "findUsable">;
  /** The public address of this server. Undefined: it is reached by the names of this machine. */
  readonly publicUrl: string | undefined;
}

/**
 * Resolves connected apps in front of a remote service. Their calls run with the product token of their person or
 * organisation, within what the person has consented to and may do.
 */
export function createAppGrantResolver({ store, clock, productTokens, publicUrl }: AppGrantDeps): ResolveGrant {
  return async (presented) => {
    if (!isAppToken(presented)) throw problem("invalid_token");
    const app = await authenticateApp(store, clock, presented, publicUrl);
    const common = { caller: app.tokenId, name: app.tokenId, app };
    const usable = await productTokens.findUsable(app);
    if (!usable) {
      const { scopes, attainable } = app;
      return { ...common, token: undefined, scopes, attainable, refusal: problem("product_token_missing") };
    }
    const { owner, token, scopes } = usable;
    const savedBy = owner === "person" ? "they" : "an owner of their organisation";
    return {
      ...common,
      token,
      scopes: app.scopes.intersection(scopes),
      attainable: app.attainable.intersection(scopes),
      refusal: problem("product_token_refused", { savedBy }),
    };
  };
}
