declare module "pgpass" {
  interface Connection {
    readonly host: string;
    readonly port: number;
    readonly user: string | undefined;
    readonly database: string | undefined;
  }

  /** Looks up a password in the file that libpq reads. Passes `undefined` if the file has none. */
  export default function pgpass(connection: Connection, callback: (password: string | undefined) => void): void;
}
