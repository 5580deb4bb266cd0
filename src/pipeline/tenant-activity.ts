/** Knows whether several tenants share the process. */
export interface TenantActivity {
  /** Notes that a tenant has sent a request. */
  note(tenant: string): void;
  /** Returns whether requests of different tenants came within the last second. */
  isShared(): boolean;
}

const rememberedMs = 1_000;

export function createTenantActivity(readMs: () => number = () => performance.now()): TenantActivity {
  let latest: string | undefined;
  let changedAtMs = Number.NEGATIVE_INFINITY;
  return {
    note(tenant) {
      if (tenant === latest) return;
      if (latest !== undefined) changedAtMs = readMs();
      latest = tenant;
    },
    isShared: () => readMs() - changedAtMs < rememberedMs,
  };
}
