/** Whose session it is, and which: opaque names. */
export interface SessionKey {
  readonly callerId: string;
  readonly sessionId: string;
}

/** What has to be remembered of an MCP session over HTTP; of most there is nothing. */
export interface SessionRecord {
  /** Nothing counts any more that comes under its name. */
  readonly ended: boolean;
  /** The stream by which its client is told of changes, in whichever process. */
  readonly streamId: string | undefined;
  /** Up to which of the organisation's turns its client needs no telling. */
  readonly turn: number | undefined;
  /** URIs of the resources whose changes it is told of. */
  readonly followed: readonly string[];
}

/** How many records one caller may have: those of sessions that have not ended, and all. */
export interface SessionBounds {
  readonly live: number;
  readonly all: number;
}

export interface SessionChange {
  readonly at: string;
  /** When the session ends by itself: nothing need be remembered of it after that. */
  readonly expiresAt: string;
  /** Beyond these what was changed longest ago is forgotten. */
  readonly bounds: SessionBounds;
}

export interface SessionAnswer {
  readonly questionId: string;
  /** JSON. */
  readonly answer: string;
}

/** What processes tell each other of the MCP sessions that any of them serves. Times are ISO. */
export interface SessionStore {
  find(key: SessionKey): Promise<SessionRecord | undefined>;
  /**
   * Changes a record, or makes one; `work` is told what there is.
   * @returns the record as it is then
   */
  change(
    key: SessionKey,
    change: SessionChange,
    work: (record: SessionRecord) => SessionRecord,
  ): Promise<SessionRecord>;
  /** Leaves an answer where whoever asked finds it; one that is there already stays. */
  leaveAnswer(callerId: string, answer: SessionAnswer, expiresAt: string): Promise<void>;
  /** Takes the answers to some questions of a caller, those that there are. */
  takeAnswers(callerId: string, questionIds: readonly string[]): Promise<SessionAnswer[]>;
  /** Deletes at most `limit` records, and as many answers, that expired before `now`. */
  sweep(now: string, limit: number): Promise<void>;
}
