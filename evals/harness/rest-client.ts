type Row = Readonly<Record<string, unknown>>;

/** The REST interface as a person at the foundation uses it beside the agent: to prepare a world and to check it. */
export interface RestClient {
  /** @throws Error for a response that is not a success */
  get<Data = Row>(path: string): Promise<Data>;
  /** Returns the rows of a list, page by page, up to the first that `keep` rejects. */
  list<Data = Row>(path: string, keep?: (row: Data) => boolean): Promise<Data[]>;
  send<Data = Row>(method: "POST" | "PATCH" | "DELETE", path: string, body: Row): Promise<Data>;
}

interface Envelope {
  readonly success: boolean;
  readonly data: unknown;
  readonly meta?: { readonly lastEvaluatedKey?: string };
  readonly error?: unknown;
}

/** Creates a client of the interface at this origin. */
export function createRestClient(origin: string, token: string): RestClient {
  async function request(method: string, path: string, body?: Row): Promise<Envelope> {
    const response = await fetch(`${origin}/integrations/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const envelope = (await response.json()) as Envelope;
    if (!envelope.success) throw new Error(`${method} ${path}: ${JSON.stringify(envelope.error)}`);
    return envelope;
  }

  return {
    get: async <Data>(path: string) => (await request("GET", path)).data as Data,
    send: async <Data>(method: string, path: string, body: Row) => (await request(method, path, body)).data as Data,
    async list<Data>(path: string, keep: (row: Data) => boolean = () => true) {
      const rows: Data[] = [];
      let key: string | undefined;
      do {
        const query = new URLSearchParams({ limit: "100", ...(key === undefined ? {} : { lastEvaluatedKey: key }) });
        const { data, meta } = await request("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`);
        const kept = (data as Data[]).findIndex((row) => !keep(row));
        rows.push(...(data as Data[]).slice(0, kept < 0 ? undefined : kept));
        key = kept < 0 ? meta?.lastEvaluatedKey : undefined;
      } while (key !== undefined);
      return rows;
    },
  };
}
