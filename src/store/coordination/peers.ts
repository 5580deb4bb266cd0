/** The settings that must be equal in all processes of a database: digests by setting name. */
export type SettingDigests = Readonly<Record<string, string>>;

/** The processes that use a database. Times are ISO. */
export interface Peers {
  /** Announces a process and its digests until a time. Returns the digests of the other running processes. */
  announce(processId: string, digests: SettingDigests, now: string, until: string): Promise<readonly SettingDigests[]>;
  leave(processId: string): Promise<void>;
  /** Records that a process sends mail through a server. */
  noteMailServer(now: string): Promise<void>;
  /** Returns when a process that sends mail through a server was last seen. */
  mailServerSeenAt(): Promise<string | undefined>;
}
