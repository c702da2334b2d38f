import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPossibleId } from "../../src/store/check.ts";
import type { KeyId } from "../../src/store/model.ts";
import { hashSecret, keyIdOf, mintSecret, secretMatches } from "../../src/tenancy/keys.ts";
import { secureRandom } from "../../src/uuid.ts";

const mint = (id: string) => mintSecret(id as KeyId, secureRandom);

describe("a key's secret", () => {
  it("carries any key id, underscores and odd characters too, in a form that a header can hold", () => {
    const ids = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter(isPossibleId);
    fc.assert(
      fc.property(ids, (id) => {
        const secret = mint(id);
        expect(secret).toMatch(/^sgw_[!-~]+_[\w-]{43}$/);
        expect(keyIdOf(secret)).toBe(id);
      }),
    );
    for (const id of ["a_b", "_", `x_${"A".repeat(43)}`, "ünï/код 🔑", "%41"]) expect(keyIdOf(mint(id))).toBe(id);
  });

  it("reads ids even where the random part begins or ends with an underscore", () => {
    const random = (bytes: Uint8Array<ArrayBuffer>) => bytes.fill(0xff);
    const secret = mintSecret("k_" as KeyId, random);
    expect(secret).toContain("k__________");
    expect(keyIdOf(secret)).toBe("k_");
  });

  it("has one spelling", () => {
    const tail = "A".repeat(43);
    for (const text of [
      `sgw_%61_${tail}`,
      `sgw_a%2_${tail}`,
      `sgw_%ff_${tail}`,
      `sgw_%00_${tail}`,
      `sgw__${tail}`,
      `sgw_a_${tail.slice(1)}`,
      `SGW_a_${tail}`,
      `sgw_a_${tail}\n`,
      ` sgw_a_${tail}`,
      `sgw_${"a".repeat(201)}_${tail}`,
      "",
    ]) {
      expect(keyIdOf(text)).toBeNull();
    }
    expect(keyIdOf(`sgw_a_${tail}`)).toBe("a");
  });

  it("matches its own hash and nothing else", () => {
    const secret = mint("k");
    const hash = hashSecret(secret);
    expect(hash).toHaveLength(32);
    expect(secretMatches(secret, hash)).toBe(true);
    expect(secretMatches(`${secret}x`, hash)).toBe(false);
    expect(secretMatches(mint("k"), hash)).toBe(false);
    expect(secretMatches(secret, null)).toBe(false);
    expect(secretMatches(secret, hash.subarray(0, 31))).toBe(false);
  });
});
