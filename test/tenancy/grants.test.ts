import { describe, expect, it } from "vitest";
import type { UserId } from "../../src/store/model.ts";
import type { Caller, CreateKeyInput } from "../../src/tenancy/contract.ts";
import { checkGrant } from "../../src/tenancy/grants.ts";
import { instant, plusSeconds } from "../../src/time.ts";
import { refusalOf } from "../support/refusal.ts";
import { OPERATOR } from "../support/tenancy.ts";

const now = instant(1_000_000_000);
const grant = (input: CreateKeyInput, grantor: Caller = OPERATOR) => checkGrant(input, grantor, now);
const refusal = (input: CreateKeyInput, grantor: Caller = OPERATOR) => refusalOf(() => grant(input, grantor));
const soon = plusSeconds(now, 60);

describe("a new key", () => {
  it("reads, sees and writes all roles unless it says otherwise", () => {
    const everything = ["SYSTEM", "USER", "ASSISTANT", "TOOL", "AGENT"];
    const expected = {
      id: null,
      name: null,
      scopes: ["READ"],
      userId: null,
      visibleRoles: everything,
      writableRoles: everything,
      expiresAt: null,
    };
    expect(grant({})).toEqual(expected);
    const nulls = { id: null, name: null, scopes: null, userId: null, visibleRoles: null, writableRoles: null };
    expect(grant({ ...nulls, expiresAt: null })).toEqual(expected);
  });

  it("takes what is said, each once and in one order", () => {
    const grantable = grant({
      id: "k",
      name: "  A name\u0085",
      scopes: ["ADMIN", "WRITE", "ADMIN"],
      visibleRoles: ["TOOL", "USER", "TOOL"],
      writableRoles: [],
      expiresAt: soon,
    });
    expect(grantable).toMatchObject({ id: "k", name: "A name", scopes: ["WRITE", "ADMIN"], expiresAt: soon });
    expect([grantable.visibleRoles, grantable.writableRoles]).toEqual([["USER", "TOOL"], []]);
  });

  it("of one end user has READ, sees USER, ASSISTANT and TOOL, and writes USER", () => {
    expect(grant({ userId: "u", expiresAt: soon })).toMatchObject({
      scopes: ["READ"],
      userId: "u",
      visibleRoles: ["USER", "ASSISTANT", "TOOL"],
      writableRoles: ["USER"],
    });
    expect(grant({ userId: "u", expiresAt: soon, writableRoles: ["ASSISTANT"] }).writableRoles).toEqual(["ASSISTANT"]);
  });

  it("of one end user never has ADMIN, and ends within 30 days", async () => {
    expect(await refusal({ userId: "u", scopes: ["ADMIN"], expiresAt: soon })).toBe("BAD_USER_INPUT scopes");
    expect(await refusal({ userId: "u" })).toBe("BAD_USER_INPUT expiresAt");
    const latest = plusSeconds(now, 30 * 86_400);
    expect(await refusal({ userId: "u", expiresAt: latest })).toBe("accepted");
    expect(await refusal({ userId: "u", expiresAt: instant(latest + 1) })).toBe("BAD_USER_INPUT expiresAt");
  });

  it("can't have what its grantor lacks, defaults included", async () => {
    const grantor: Caller = {
      ...OPERATOR,
      scopes: new Set(["WRITE", "ADMIN"]),
      visibleRoles: new Set(["USER", "TOOL"]),
      writableRoles: new Set(["USER"]),
    };
    const held: CreateKeyInput = { scopes: ["WRITE", "ADMIN"], visibleRoles: ["USER"], writableRoles: ["USER"] };
    expect(await refusal(held, grantor)).toBe("accepted");
    expect(await refusal({ ...held, scopes: ["WRITE", "DELETE"] }, grantor)).toBe("BAD_USER_INPUT scopes");
    expect(await refusal({ ...held, scopes: null }, grantor)).toBe("BAD_USER_INPUT scopes");
    expect(await refusal({ ...held, visibleRoles: ["USER", "AGENT"] }, grantor)).toBe("BAD_USER_INPUT visibleRoles");
    expect(await refusal({ ...held, visibleRoles: null }, grantor)).toBe("BAD_USER_INPUT visibleRoles");
    expect(await refusal({ ...held, writableRoles: ["TOOL"] }, grantor)).toBe("BAD_USER_INPUT writableRoles");
    const ofUser = { ...OPERATOR, userId: "u" as UserId };
    expect(await refusal({ userId: "v", expiresAt: soon }, ofUser)).toBe("BAD_USER_INPUT userId");
    expect(grant({ expiresAt: soon }, ofUser).userId).toBe("u");
  });

  it("refuses ends that are not to come, odd ids and names, and no scope at all, at the field", async () => {
    expect(await refusal({ expiresAt: now })).toBe("BAD_USER_INPUT expiresAt");
    expect(await refusal({ expiresAt: instant(now + 1) })).toBe("accepted");
    expect(await refusal({ id: "" })).toBe("BAD_USER_INPUT id");
    expect(await refusal({ id: "a\u0000" })).toBe("BAD_USER_INPUT id");
    expect(await refusal({ userId: "", expiresAt: soon })).toBe("BAD_USER_INPUT userId");
    expect(await refusal({ name: " " })).toBe("BAD_USER_INPUT name");
    expect(await refusal({ name: ` ${"🔑".repeat(200)} ` })).toBe("accepted");
    expect(await refusal({ name: "🔑".repeat(201) })).toBe("BAD_USER_INPUT name");
    expect(await refusal({ scopes: [] })).toBe("BAD_USER_INPUT scopes");
  });
});
