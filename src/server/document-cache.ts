import type { DocumentNode } from "graphql";

/** Some 60 MB at most: a token with its share of the tree weighs about 300 bytes. */
const CACHED_TOKENS_MAX = 200_000;

/** Parsed documents by their text, the least recently used out first. */
export interface DocumentCache {
  get(text: string): DocumentNode | undefined;
  add(text: string, document: DocumentNode, tokens: number): void;
}

/** Bounded by tokens, not by entries: a thousand documents of 2,000 tokens each would be a leak in all but name. */
export function createDocumentCache(tokensMax = CACHED_TOKENS_MAX): DocumentCache {
  const entries = new Map<string, { readonly document: DocumentNode; readonly tokens: number }>();
  let held = 0;
  return {
    get(text) {
      const entry = entries.get(text);
      if (entry === undefined) return undefined;
      entries.delete(text);
      entries.set(text, entry);
      return entry.document;
    },
    add(text, document, tokens) {
      if (entries.has(text) || tokens > tokensMax) return;
      entries.set(text, { document, tokens });
      held += tokens;
      for (const [oldest, entry] of entries) {
        if (held <= tokensMax) break;
        entries.delete(oldest);
        held -= entry.tokens;
      }
    },
  };
}
