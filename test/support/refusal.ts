import { GatewayError } from "../../src/errors.ts";

/** `CODE path reason` of the GatewayError that the work is refused with; "accepted" where it is not. */
export async function refusalOf(work: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof work === "function" ? work() : work);
    return "accepted";
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, error.path?.join("."), error.details.reason].filter((part) => part).join(" ");
  }
}
