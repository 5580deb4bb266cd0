import { expect, test } from "vitest";
import type { Token, TokenPatch } from "../../src/contract/access/tokens.ts";
import type { AuditEntry } from "../../src/contract/audit.ts";
import type { EventPayload } from "../../src/contract/events.ts";
import { createId } from "../../src/lib/ids.ts";
import type { AuditFilter, AuditNarrowing, StoredAnswer } from "../../src/store/port.ts";
import { listAudit } from "../support/data/state.ts";
import { type Bench, now } from "./conformance.ts";

const at = (ms: number) => new Date(Date.parse(now) + ms).toISOString();

export function entry(given: Partial<AuditEntry>): AuditEntry {
  return {
    auditId: createId("aud"),
    businessId: "biz_one",
    action: "submission.advanced",
    entityType: "submission",
    entityId: "sub_1",
    programId: "prg_1",
    submissionId: "sub_1",
    actorType: "token",
    actorId: "tok_1",
    tokenId: "tok_1",
    requestId: "req_1",
    status: null,
    changes: [{ path: "state", from: "ELIGIBLE", to: "IN_REVIEW" }, { path: "title" }],
    reason: null,
    occurredAt: now,
    ...given,
  };
}

export function token(given: Partial<Token>): Token {
  return {
    tokenId: createId("tok"),
    businessId: "biz_one",
    name: "crm",
    sha256: createId("sha"),
    prefix: "ab12",
    scopes: ["submissions:read", "persons:write"],
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    createdAt: now,
    ...given,
  };
}

/** Tests what is stored beside the records: audit, events, answers, quotas, tokens, tenants, secrets. */
export function ledgers(bench: () => Bench): void {
  const reader = () => bench().store.reader("biz_one");

  test("audit entries are listed newest first, and those without a change only when filtered by action", async () => {
    const { write, store } = bench();
    const change = entry({ occurredAt: at(0) });
    const later = entry({
      occurredAt: at(2),
      action: "submission.eliminated",
      entityId: "oth_1",
      submissionId: "sub_2",
      entityType: "other",
    });
    const read = entry({ occurredAt: at(1), action: "submission.read", status: 200, changes: [] });
    const refused = entry({ occurredAt: at(3), action: "submission.advanced", status: 409, changes: [] });
    await write((transaction) => transaction.appendAudit([change, later]));
    await store.appendAccess([read, refused, entry({ businessId: "biz_two", status: 200 })]);
    const list = async (filter: AuditFilter) => (await reader().pageAudit(filter, { limit: 10 })).rows;
    expect(await list({})).toEqual([later, change]);
    expect(await list({ submissionId: "sub_1" })).toEqual([change]);
    expect(await list({ programId: "prg_1", entityType: "other" })).toEqual([later]);
    expect(await list({ programId: "prg_2" })).toEqual([]);
    expect(await list({ action: "submission.read" })).toEqual([read]);
    expect(await list({ action: "submission.advanced" })).toEqual([refused, change]);
    expect(await list({ action: "submission.advanced", submissionId: "sub_2" })).toEqual([]);
    const narrow = async (narrowing: AuditNarrowing, filter: AuditFilter = {}) =>
      (await reader().pageAudit(filter, { limit: 10 }, narrowing)).rows;
    expect(await narrow({ from: at(1) })).toEqual([later]);
    expect(await narrow({ to: at(1) })).toEqual([change]);
    expect(await narrow({ from: at(0), to: at(2) })).toEqual([later, change]);
    expect(await narrow({ entityId: "sub_1" })).toEqual([change]);
    expect(await narrow({ entityId: "sub_1" }, { programId: "prg_1" })).toEqual([change]);
    expect(await narrow({ entityId: "sub_1" }, { submissionId: "sub_2", entityType: "submission" })).toEqual([]);
    expect(await narrow({ actorId: change.actorId })).toEqual([later, change]);
    expect(await narrow({ actorId: change.actorId }, { action: "submission.read" })).toEqual([read]);
    expect(await narrow({ actorId: change.actorId, tokenId: "app_1" })).toEqual([]);
    expect(await narrow({ actorId: "usr_other" })).toEqual([]);
    expect(await reader().getAudit(read.auditId)).toStrictEqual(read);
    expect(await store.reader("biz_two").getAudit(read.auditId)).toBeUndefined();
  });

  test("each page of audit entries continues after the previous one, for every filter", async () => {
    const entries = Array.from({ length: 5 }, (_, n) => entry({ occurredAt: at(n >> 1) }));
    await bench().write((transaction) => transaction.appendAudit(entries));
    const first = await reader().pageAudit({}, { limit: 3 });
    const second = await reader().pageAudit({}, { limit: 3, lastEvaluatedKey: first.lastEvaluatedKey });
    const seen = [...first.rows, ...second.rows].map(({ auditId }) => auditId);
    expect(seen).toEqual(entries.map(({ auditId }) => auditId).reverse());
    expect(second.lastEvaluatedKey).toBeUndefined();
    const foreign = reader().pageAudit({ programId: "prg_1" }, { limit: 3, lastEvaluatedKey: first.lastEvaluatedKey });
    await expect(foreign).rejects.toMatchObject({ code: "invalid_cursor" });
  });

  test("events are in the order of their transactions, and a transaction that fails leaves none", async () => {
    const { write, store } = bench();
    const event = (n: number): EventPayload => ({
      eventType: "feedback.released",
      eventId: `evt_${9 - n}`,
      timestamp: now,
      data: {
        businessId: "biz_one",
        programId: "prg_1",
        submissionId: "sub_1",
        trackId: "trk_1",
        roundId: null,
        version: n,
        feedbackId: "fbk_1",
      },
    });
    await write((transaction) => transaction.appendEvents([event(1), event(2)]));
    const lost = write(async (transaction) => {
      await transaction.appendEvents([event(3)]);
      throw new Error("undo");
    });
    await expect(lost).rejects.toThrow("undo");
    await write((transaction) => transaction.appendEvents([]));
    await write((transaction) => transaction.appendEvents([event(4)]));
    expect(await store.listEvents("biz_one", 10)).toEqual([event(1), event(2), event(4)]);
    expect(await store.listEvents("biz_one", 2)).toEqual([event(2), event(4)]);
    expect(await store.listEvents("biz_two", 10)).toEqual([]);
    await expect(write((transaction) => transaction.appendEvents([event(4)]))).rejects.toThrow();
  });

  test("a stored answer is found until it expires, and only by its tenant", async () => {
    const { write } = bench();
    const answer: StoredAnswer = {
      fingerprint: "f1",
      tokenId: "tok_1",
      key: "k",
      status: 200,
      body: '{"result":1}',
      createdAt: at(0),
    };
    await write((transaction) => transaction.saveAnswer(answer));
    const find = (notBefore: string, businessId?: string) =>
      write(async (transaction) => {
        const found = await transaction.findAnswer("f1", notBefore);
        return [found, await transaction.findKey("tok_1", "k", notBefore)];
      }, businessId);
    expect(await find(at(0))).toEqual([answer, "f1"]);
    expect(await find(at(0), "biz_two")).toEqual([undefined, undefined]);
    expect(await write((transaction) => transaction.findKey("tok_2", "k", at(0)))).toBeUndefined();
    expect(await write((transaction) => transaction.findKey("tok_1", "other", at(0)))).toBeUndefined();
    const other = { ...answer, fingerprint: "f2", createdAt: at(1) };
    await write((transaction) => transaction.saveAnswer(other));
    expect(await find(at(0))).toEqual([answer, "f2"]);
    await write((transaction) => transaction.saveAnswer({ ...answer, body: "{}", createdAt: at(5) }));
    expect(await find(at(5))).toEqual([{ ...answer, body: "{}", createdAt: at(5) }, "f1"]);
    expect(await find(at(6))).toEqual([undefined, undefined]);
  });

  test("a quota records its last use by a token", async () => {
    const { write, store } = bench();
    const lastUse = (tokenId: string, quota: string) =>
      write((transaction) => transaction.lastQuotaUse(tokenId, quota));
    expect(await lastUse("tok_1", "export")).toBeUndefined();
    await write((transaction) => transaction.useQuota("tok_1", "export"));
    await store.transaction({ businessId: "biz_one", actorId: "tok_1", now: at(1) }, (transaction) =>
      transaction.useQuota("tok_1", "export"),
    );
    expect(await lastUse("tok_1", "export")).toBe(at(1));
    expect([await lastUse("tok_2", "export"), await lastUse("tok_1", "other")]).toEqual([undefined, undefined]);
  });

  test("a one-time name is accepted once in a tenant, and again if its use was rolled back", async () => {
    const { write } = bench();
    const consumeNonce = (businessId?: string) =>
      write((transaction) => transaction.consumeNonce("nonce", at(1)), businessId);
    const undone = write(async (transaction) => {
      expect(await transaction.consumeNonce("nonce", at(1))).toBe(true);
      throw new Error("undo");
    });
    await expect(undone).rejects.toThrow("undo");
    expect([await consumeNonce(), await consumeNonce(), await consumeNonce("biz_two")]).toEqual([true, false, true]);
  });

  test("any number of access entries can be written, and repeated ones are stored once", async () => {
    const { store } = bench();
    const entries = Array.from({ length: 2_345 }, () => entry({ action: "submission.read", status: 200, changes: [] }));
    await store.appendAccess(entries.slice(0, 1_500));
    await store.appendAccess(entries);
    const kept = await listAudit(store, "biz_one", "submission.read");
    expect(kept.map(({ auditId }) => auditId).sort()).toEqual(entries.map(({ auditId }) => auditId).sort());
    expect(await listAudit(store, "biz_one", undefined)).toEqual([]);
  });

  test("tokens are found by their hash, are revoked once and record their last use", async () => {
    const { store } = bench();
    const [mine, other] = [token({}), token({ businessId: "biz_two", expiresAt: at(9) })];
    await store.insertToken(mine);
    await store.insertToken(other);
    expect(await store.findToken(mine.sha256)).toStrictEqual(mine);
    expect(await store.findToken("none")).toBeUndefined();
    await expect(store.insertToken(token({ sha256: mine.sha256 }))).rejects.toThrow();
    expect(await store.listTokens()).toEqual([mine, other]);
    expect(await store.listTokens("biz_two")).toEqual([other]);
    await store.touchTokens(new Map([[mine.tokenId, at(5)]]));
    await store.touchTokens(
      new Map([
        [mine.tokenId, at(4)],
        ["tok_none", at(4)],
      ]),
    );
    expect([await store.revokeToken(mine.tokenId, at(6)), await store.revokeToken(mine.tokenId, at(7))]).toEqual([
      true,
      false,
    ]);
    expect(await store.revokeToken("tok_none", at(6))).toBe(false);
    expect(await store.findToken(mine.sha256)).toEqual({ ...mine, lastUsedAt: at(5), revokedAt: at(6) });
    expect(await store.findToken(other.sha256)).toEqual(other);
  });

  test("tokens can be changed by their own tenant until they are revoked, and a rollback undoes the change", async () => {
    const { store } = bench();
    const mine = token({});
    await store.insertToken(mine);
    const change = (businessId: string, patch: TokenPatch) =>
      store.transaction({ businessId, actorId: "command_line", now: at(5) }, (transaction) =>
        transaction.changeToken(mine.tokenId, patch),
      );
    const patch: TokenPatch = { name: "Other", scopes: ["programs:read"], expiresAt: at(9) };
    expect(await change("biz_two", patch)).toBeUndefined();
    expect(await change(mine.businessId, {})).toEqual({ before: mine, after: mine });
    expect(await change(mine.businessId, patch)).toEqual({ before: mine, after: { ...mine, ...patch } });
    expect(await store.findToken(mine.sha256)).toEqual({ ...mine, ...patch });
    await expect(
      store.transaction({ businessId: mine.businessId, actorId: "command_line", now: at(5) }, async (transaction) => {
        await transaction.changeToken(mine.tokenId, { name: "Undone" });
        throw new Error("Given up");
      }),
    ).rejects.toThrow("Given up");
    expect(await store.findToken(mine.sha256)).toEqual({ ...mine, ...patch });
    await change(mine.businessId, { expiresAt: null, revokedAt: at(6) });
    expect(await change(mine.businessId, { revokedAt: null })).toBeUndefined();
    expect(await store.findToken(mine.sha256)).toEqual({ ...mine, ...patch, expiresAt: null, revokedAt: at(6) });
  });

  test("tenants are listed in the order of their creation", async () => {
    const { store } = bench();
    const [one, two] = [
      { businessId: "biz_2", name: "Two", createdAt: at(0) },
      { businessId: "biz_1", name: "One", createdAt: at(1) },
    ] as const;
    await store.insertBusiness(one);
    await store.insertBusiness(two);
    expect(await store.listBusinesses()).toEqual([one, two]);
    await expect(store.insertBusiness(one)).rejects.toThrow();
  });

  test("a secret stays the same, differs by name and can be read inside a transaction", async () => {
    const { store, write } = bench();
    const secret = await write(() => store.secret("links"));
    expect(secret).toHaveLength(32);
    expect(await store.secret("links")).toEqual(secret);
    expect(await store.secret("exports")).not.toEqual(secret);
  });
}
