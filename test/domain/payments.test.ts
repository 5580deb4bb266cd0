import { expect, test } from "vitest";
import { PaymentStatus } from "../../src/contract/payments.ts";
import { computeFee, isSettled } from "../../src/domain/payments.ts";

test.each([
  [true, 500, "CZK", { amountMinor: 500, currency: "CZK" }],
  [true, 500, null, { amountMinor: 500, currency: "EUR" }],
  [true, 0, "CZK", undefined],
  [true, null, "CZK", undefined],
  [false, 500, "CZK", undefined],
])("fee required %s, amount %s, currency %s", (feeRequired, feeAmountMinor, currency, fee) => {
  expect(computeFee({ feeRequired, currency: "EUR" }, { feeAmountMinor, currency })).toEqual(fee);
});

test("a fee without any currency shows ISO 4217's code for none", () => {
  const fee = computeFee({ feeRequired: true, currency: null }, { feeAmountMinor: 1, currency: null });
  expect(fee).toEqual({ amountMinor: 1, currency: "XXX" });
});

test("only a payment that succeeded or was waived settles a fee", () => {
  expect([null, ...PaymentStatus.options].filter(isSettled)).toEqual(["succeeded", "waived"]);
});
