declare module "pgpass" {
  interface Connection {
    readonly host: string;
    readonly port: number;
    readonly user: string | undefined;
    readonly database: string | undefined;
  }

  /** Looks a password up in the file that libpq reads; `undefined` where it holds none. */
  export default function pgpass(connection: Connection, callback: (password: string | undefined) => void): void;
}
