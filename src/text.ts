// Limits on text count Unicode code points: a limit of 200 must not depend on how many of them are emoji.

const CONTROL = /\p{Cc}/u;
const WHITE_SPACE_ONLY = /^\p{White_Space}*$/u;

/** Number of code points; a lone surrogate counts as one. */
export function codePointCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Whether the text has more than `limit` code points; looks no further than it must. */
export function exceedsCodePoints(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > limit * 2) return true;
  return codePointCount(text) > limit;
}

/** The first `limit` code points; never cuts through a surrogate pair. */
export function firstCodePoints(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let units = 0;
  let count = 0;
  for (const point of text) {
    if (count === limit) break;
    units += point.length;
    count++;
  }
  return text.slice(0, units);
}

/** Category Cc: what titles, agent names and ids refuse. */
export function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

/** Whether half of a surrogate pair stands alone: text that UTF-8 and SQLite can not keep. */
export function hasLoneSurrogate(text: string): boolean {
  return !text.isWellFormed();
}

/** Nothing but Unicode White_Space, or nothing at all. */
export function isBlank(text: string): boolean {
  return WHITE_SPACE_ONLY.test(text);
}

/** Without Unicode White_Space at both ends (String.trim leaves out U+0085 and takes U+FEFF). */
export function trimWhiteSpace(text: string): string {
  return text.replace(/^\p{White_Space}+/u, "").replace(/\p{White_Space}+$/u, "");
}
