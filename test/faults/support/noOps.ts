import { readFile } from 'node:fs/promises'

/** Nonces that nothing was known of, and those whose transaction no node took. */
export type NoOps = Readonly<Record<'unknown' | 'refused', number>>

/** What the server's log says of nonces that it filled. */
export async function countNoOps(log: string): Promise<NoOps> {
  const text = await readFile(log, 'utf8')
  const count = (words: string) => text.split(`nonce filled: ${words}`).length - 1
  return { unknown: count('nothing is known'), refused: count('no node takes') }
}
