import type { OperationParams } from "./pipeline.ts";
import { HttpRefusal } from "./refusal.ts";

/** GraphQL parameters of a POST's JSON body; 400 for anything of another shape, batches among it. */
export function paramsOfBody(text: string): OperationParams {
  const body = parseJson(text, "The body is not JSON.");
  if (Array.isArray(body)) throw new HttpRefusal(400, "Send one operation a request; batches are not accepted.");
  if (!isRecord(body)) throw new HttpRefusal(400, "The body must be a JSON object with a query.");
  return paramsOfRecord(body);
}

/** GraphQL parameters of a GET's query string. */
export function paramsOfSearch(search: string): OperationParams {
  const given = new URLSearchParams(search);
  const json = (name: string) => {
    const text = given.get(name);
    return text === null || text === "" ? null : parseJson(text, `The parameter ${name} is not JSON.`);
  };
  return paramsOfRecord({
    query: given.get("query"),
    operationName: given.get("operationName"),
    variables: json("variables"),
    extensions: json("extensions"),
  });
}

/** Checks the types of the parameters; unknown ones are ignored, as the protocol says. */
export function paramsOfRecord(record: Readonly<Record<string, unknown>>): OperationParams {
  const { query, operationName = null, variables = null, extensions = null } = record;
  if (typeof query !== "string" || query.trim() === "") {
    throw new HttpRefusal(400, "The parameter query must be a GraphQL document.");
  }
  if (operationName !== null && typeof operationName !== "string") {
    throw new HttpRefusal(400, "The parameter operationName must be text.");
  }
  if (variables !== null && !isRecord(variables)) {
    throw new HttpRefusal(400, "The parameter variables must be a JSON object.");
  }
  if (extensions !== null && !isRecord(extensions)) {
    throw new HttpRefusal(400, "The parameter extensions must be a JSON object.");
  }
  return { query, operationName, variables };
}

function parseJson(text: string, problem: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpRefusal(400, problem);
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
