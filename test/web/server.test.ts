import { expect, it } from 'vitest'
import { ClientError } from '../../src/client/index.js'
import { serverWords } from '../../web/words/failures.js'
import { serverError } from './support/serverError.js'

it.each([
  [false, null, 'checking…', null],
  [true, null, 'answers', 'good'],
  [true, new ClientError('server-unreachable', ''), 'silent', 'bad'],
  [false, new ClientError('server-timeout', ''), 'silent', 'bad'],
  [false, serverError(429, 'rate-limited'), 'answers with an error', 'bad'],
  [true, serverError(500, 'internal-error'), 'answers with an error', 'bad'],
] as const)('a server that answered: %s, and failed with: %s', (answered, error, words, tone) => {
  expect(serverWords(answered, error)).toEqual([words, tone])
})
