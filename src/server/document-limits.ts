import { Lexer, Source, TokenKind } from "graphql";
import { GatewayError } from "../errors.ts";

/**
 * Open brackets at once: a literal of 64 levels inside the deepest selection fits, and no recursive walk of a document
 * can run out of stack.
 */
const NESTING_MAX = 100;

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/**
 * Counts a document's tokens before the parser sees it. The parser recurses: unguarded, 5,000 brackets end in a stack
 * overflow. Throws BAD_USER_INPUT over a limit, and a syntax error for text that has no tokens.
 */
export function scanDocument(
  text: string,
  limits: { readonly documentBytesMax: number; readonly tokensMax: number },
): number {
  if (Buffer.byteLength(text) > limits.documentBytesMax) {
    throw refused(`A document has at most ${limits.documentBytesMax} bytes; put the data into variables.`);
  }
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let nesting = 0;
  for (let { kind } = lexer.advance(); kind !== TokenKind.EOF; { kind } = lexer.advance()) {
    if (++tokens > limits.tokensMax) {
      throw refused(`A document has at most ${limits.tokensMax} tokens; put the data into variables.`);
    }
    if (OPENING.has(kind) && ++nesting > NESTING_MAX) {
      throw refused(`A document nests at most ${NESTING_MAX} brackets.`);
    }
    if (CLOSING.has(kind)) nesting--;
  }
  return tokens;
}

function refused(message: string): GatewayError {
  return new GatewayError("BAD_USER_INPUT", message);
}
