import { GatewayError } from "../../errors.ts";

/** Rejects with both values where they are not the same JSON; undefined members do not count. */
export function expectSame(found: unknown, expected: unknown, what: string): void {
  const left = canonical(found);
  const right = canonical(expected);
  if (left !== right) throw new Error(`${what}: expected ${right}, found ${left}`);
}

/** Rejects unless the work is refused with this code (and reason, where one is given). */
export async function expectRefusal(work: Promise<unknown>, expected: string): Promise<void> {
  const found = await work.then(
    () => "accepted",
    (error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      return [error.code, error.details.reason].filter((part) => part !== undefined).join(" ");
    },
  );
  expectSame(found, expected, "refusal");
}

/** Rejects where the condition does not hold. */
export function expectThat(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}
