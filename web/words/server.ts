import { isAsleep } from './failures.js'

/** How the server is, by the last answer to a question that is asked again and again; and whether that is good. */
export function serverWords(
  answered: boolean,
  error: unknown,
): readonly [words: string, tone: 'good' | 'bad' | null] {
  if (error === null) return answered ? ['answers', 'good'] : ['asking…', null]
  return [isAsleep(error) ? 'silent' : 'answers with an error', 'bad']
}
