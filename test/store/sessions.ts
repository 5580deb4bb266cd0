import { expect, test } from "vitest";
import type { SessionChange, SessionRecord, SessionStore } from "../../src/store/coordination/session-store.ts";
import type { Bench } from "./conformance.ts";

const expiresAt = "2026-11-27T09:00:00.000Z";
const one = { callerId: "caller_one", sessionId: "session_one" };
const fresh: SessionRecord = { ended: false, streamId: undefined, commitNumber: undefined, followed: [] };

/** A change at some second of a minute. */
function at(second: number, bounds = { live: 100, all: 100 }): SessionChange {
  return { at: `2026-11-20T09:00:${String(second).padStart(2, "0")}.000Z`, expiresAt, bounds };
}

/** Tests the session state that processes share. */
export function sessions(bench: () => Bench): void {
  const table = (): SessionStore => bench().store.sessions;
  const follow = (uri: string) => (record: SessionRecord) => ({ ...record, followed: [...record.followed, uri] });

  test("are unchanged until something is stored", async () => {
    expect(await table().find(one)).toBeUndefined();
    expect(await table().change(one, at(0), (record) => ({ ...record, streamId: "stream" }))).toEqual({
      ...fresh,
      streamId: "stream",
    });
    expect(await table().find(one)).toEqual({ ...fresh, streamId: "stream" });
    expect(await table().find({ ...one, callerId: "caller_two" })).toBeUndefined();
    await table().change(one, at(1), () => ({ ...fresh, ended: true }));
    expect(await table().find(one)).toEqual({ ...fresh, ended: true });
  });

  test("lose none of two concurrent changes", async () => {
    const uris = Array.from({ length: 8 }, (_, index) => `programme://programs/${index}`);
    await Promise.all(uris.map((uri) => table().change(one, at(0), follow(uri))));
    expect((await table().find(one))?.followed.toSorted()).toEqual(uris);
  });

  test("of one caller are kept up to a limit, the last changed first, and those of other callers stay", async () => {
    const bounds = { live: 2, all: 4 };
    const other = { callerId: "caller_two", sessionId: "other" };
    await table().change(other, at(0), follow("programme://programs"));
    const session = (name: string) => ({ ...one, sessionId: name });
    const known = async (...names: string[]) => {
      const found = await Promise.all(names.map(async (name) => ((await table().find(session(name))) ? name : "")));
      return found.filter((name) => name !== "");
    };
    const end = () => ({ ...fresh, ended: true });
    for (const [second, name] of ["a", "b"].entries()) await table().change(session(name), at(second, bounds), end);
    for (const [second, name] of ["c", "d"].entries())
      await table().change(session(name), at(10 + second, bounds), follow("programme://programs"));
    expect(await known("a", "b", "c", "d")).toEqual(["a", "b", "c", "d"]);
    await table().change(session("e"), at(20, bounds), follow("programme://programs"));
    expect(await known("a", "b", "c", "d", "e")).toEqual(["a", "b", "d", "e"]);
    await table().change(session("f"), at(21, bounds), end);
    expect(await known("a", "b", "c", "d", "e", "f")).toEqual(["b", "d", "e", "f"]);
    expect(await table().find(other)).toMatchObject({ followed: ["programme://programs"] });
  });

  test("give each answer to one reader only, and keep the first answer to a question", async () => {
    const { callerId } = one;
    await table().leaveAnswer(callerId, { questionId: "q1", answer: "1" }, expiresAt);
    await table().leaveAnswer(callerId, { questionId: "q1", answer: "2" }, expiresAt);
    await table().leaveAnswer(callerId, { questionId: "q2", answer: "3" }, expiresAt);
    expect(await table().takeAnswers("caller_two", ["q1", "q2"])).toEqual([]);
    const takers = await Promise.all([1, 2, 3].map(() => table().takeAnswers(callerId, ["q1", "q3"])));
    expect(takers.flat()).toEqual([{ questionId: "q1", answer: "1" }]);
    expect(await table().takeAnswers(callerId, ["q1", "q2"])).toEqual([{ questionId: "q2", answer: "3" }]);
  });

  test("are deleted when they have expired, and not before", async () => {
    await table().change(one, at(0), follow("programme://programs"));
    await table().leaveAnswer(one.callerId, { questionId: "q1", answer: "1" }, expiresAt);
    await table().sweep("2026-11-27T08:59:59.999Z", 10);
    expect(await table().find(one)).toBeDefined();
    await table().sweep(expiresAt, 10);
    expect(await table().find(one)).toBeUndefined();
    expect(await table().takeAnswers(one.callerId, ["q1"])).toEqual([]);
  });
}
