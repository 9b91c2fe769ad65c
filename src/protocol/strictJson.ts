/**
 * Strict JSON for untrusted input. JSON.parse keeps the last of two members with the same name. Two readers of one text
 * could therefore disagree (RFC 8259 §4). Like I-JSON (RFC 7493 §2.3), this parser refuses repeated names. The server
 * parses request bodies with it, the enclave the content of envelopes.
 */

/** The text is not JSON, or is JSON that this parser refuses. `message` names the reason and never quotes the text. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
}

/** Far deeper than any valid body; bounds the work of code that walks the value. */
const MAX_DEPTH = 32

/** Names that reach an object's prototype if careless code assigns them. */
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Parses one JSON value.
 * @throws JsonError if it is malformed, is nested deeper than 32, or has an object with a repeated or forbidden
 *   member name, written literally or with escapes
 */
export function parseStrictJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new JsonError('The text is not JSON.')
  }
  checkNames(text)
  return value
}

/** Walks text that JSON.parse has accepted, so it only needs to distinguish brackets from strings. */
function checkNames(text: string): void {
  const open: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '{' || char === '[') {
      if (open.push(new Set()) > MAX_DEPTH)
        throw new JsonError(`The text is nested deeper than ${MAX_DEPTH}.`)
    } else if (char === '}' || char === ']') {
      open.pop()
    } else if (char === '"') {
      const end = endOfString(text, at)
      if (isName(text, end + 1)) addName(open.at(-1), text.slice(at, end + 1))
      at = end
    }
  }
}

/** Index of the quote that closes the string opened at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

/** In valid JSON a string is a member's name exactly when a colon follows. */
function isName(text: string, after: number): boolean {
  let at = after
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
}

function addName(seen: Set<string> | undefined, quoted: string): void {
  const name = String(JSON.parse(quoted))
  if (FORBIDDEN_NAMES.has(name)) throw new JsonError('The text has a member name that is not allowed.')
  if (seen?.has(name)) throw new JsonError('The text has an object with a repeated member name.')
  seen?.add(name)
}
