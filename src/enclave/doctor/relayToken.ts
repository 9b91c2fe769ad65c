import { type Finding, fault, ok, unchecked } from '../../protocol/finding.js'
import { ZERO_BYTES32 } from '../../protocol/hex.js'
import type { EnclaveConfig } from '../config.js'

const UNAUTHORIZED = 401
const NOT_FOUND = 404

/** Asks the relay for a receipt that does not exist: the relay says so only to a caller with the token. */
export async function checkRelay(config: EnclaveConfig): Promise<Finding> {
  const status = await statusOf(config)
  if (status === NOT_FOUND) return ok('relay', 'RELAY_URL answers, and takes RELAY_AUTH_TOKEN')
  if (status === UNAUTHORIZED) {
    return fault('relay', 'RELAY_AUTH_TOKEN is refused by the server at RELAY_URL: give both the same one')
  }
  if (status === null) {
    return unchecked('relay', 'RELAY_URL does not answer: when the server runs, look again; else correct it')
  }
  return fault('relay', `RELAY_URL answers with status ${status}: what is there is not the server, or is ill`)
}

/** Null when the server does not answer. */
async function statusOf({
  RELAY_URL,
  RELAY_AUTH_TOKEN,
  RELAY_TIMEOUT,
}: EnclaveConfig): Promise<number | null> {
  try {
    const { status } = await fetch(`${RELAY_URL.replace(/\/+$/, '')}/relay/${ZERO_BYTES32}`, {
      headers: { authorization: `Bearer ${RELAY_AUTH_TOKEN}` },
      // Following one would hand the token to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(RELAY_TIMEOUT),
    })
    return status
  } catch {
    return null
  }
}
