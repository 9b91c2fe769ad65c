import { type Bytes, hexToBytes } from '../../protocol/hex.js'
import type { Logger } from '../../service/logger.js'
import type { Routes } from '../resident/door.js'
import { signedRoute } from './signedRoute.js'

const NONCE = /^[0-9a-f]{64}$/

/**
 * Fresh evidence for the server, which signs the nonce.
 * @param secret that of jobs
 * @param attest answers evidence with 32 bytes in it
 */
export function challengeRoute(
  secret: string,
  attest: (nonce: Bytes) => Promise<object | 'keys-awaited'>,
  logger: Logger,
): Routes {
  return {
    '/attestation': {
      GET: signedRoute({
        ...{ kind: 'challenge', secret, logger },
        signed: ({ query }) => query.get('nonce') ?? '',
        read: (digits) => (NONCE.test(digits) ? hexToBytes(`0x${digits}`) : undefined),
        answer: attest,
      }),
    },
  }
}
