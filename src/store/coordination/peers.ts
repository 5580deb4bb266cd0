/** What a process runs with that others on its database should too: digests by the names of settings. */
export type Marks = Readonly<Record<string, string>>;

/** The processes that serve a database, as they tell each other of themselves. Times are ISO. */
export interface Peers {
  /** Says what a process runs with, good until a time; gives what the others that are there now run with. */
  announce(processId: string, marks: Marks, now: string, until: string): Promise<readonly Marks[]>;
  leave(processId: string): Promise<void>;
  /** Notes that a process sends mail by a server. */
  noteMailServer(now: string): Promise<void>;
  /** When a process that sends mail by a server was last there. */
  mailServerSeenAt(): Promise<string | undefined>;
}
