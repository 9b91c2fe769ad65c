import { isAsleep } from './failures.js'

/** The server's state by its last poll, and whether that is good. */
export function serverWords(
  answered: boolean,
  error: unknown,
): readonly [words: string, tone: 'good' | 'bad' | null] {
  if (error === null) return answered ? ['answers', 'good'] : ['checking…', null]
  return [isAsleep(error) ? 'silent' : 'answers with an error', 'bad']
}
