/** Identifies a session by its caller and its id. */
export interface SessionKey {
  readonly callerId: string;
  readonly sessionId: string;
}

/** The shared state of an MCP session over HTTP. Most sessions have none. */
export interface SessionRecord {
  /** The session has ended. Its id is no longer valid. */
  readonly ended: boolean;
  /** The stream on which the client receives change notifications, in any process. */
  readonly streamId: string | undefined;
  /** The last commit number of the organisation about which the client needs no notification. */
  readonly commitNumber: number | undefined;
  /** URIs of the resources that the client has subscribed to. */
  readonly followed: readonly string[];
}

/** Limits on the records of one caller: open sessions, and all sessions. */
export interface SessionBounds {
  readonly live: number;
  readonly all: number;
}

export interface SessionChange {
  readonly at: string;
  /** When the session expires. Its record can be deleted then. */
  readonly expiresAt: string;
  /** The records that changed longest ago are deleted beyond these limits. */
  readonly bounds: SessionBounds;
}

export interface SessionAnswer {
  readonly questionId: string;
  /** The answer as JSON. */
  readonly answer: string;
}

/** State of MCP sessions that the processes share. Times are ISO. */
export interface SessionStore {
  find(key: SessionKey): Promise<SessionRecord | undefined>;
  /**
   * Changes or creates a record. `work` receives the current record.
   * @returns the changed record
   */
  change(
    key: SessionKey,
    change: SessionChange,
    work: (record: SessionRecord) => SessionRecord,
  ): Promise<SessionRecord>;
  /** Stores an answer for the process that asked. An existing answer is kept. */
  leaveAnswer(callerId: string, answer: SessionAnswer, expiresAt: string): Promise<void>;
  /** Takes a caller's answers to some questions, if there are any. */
  takeAnswers(callerId: string, questionIds: readonly string[]): Promise<SessionAnswer[]>;
  /** Deletes at most `limit` records, and as many answers, that expired before `now`. */
  sweep(now: string, limit: number): Promise<void>;
}
