import type { AttestationErrorCode } from '../../src/attestation/index.js'
import { ClientError } from '../../src/client/index.js'
import type { Words } from './contractWords.js'

const UNPROVED = 'The enclave’s hardware does not vouch for it'
export const FORGED: Words = [
  UNPROVED,
  'Do not order: the evidence that the server shows is none, or was altered. Report it to the operator.',
]
const STALE: Words = [
  'The evidence of the enclave is too old',
  'Check the clock of your device. If it is right, try again in an hour: a running enclave shows new evidence by then. If it persists, tell the operator.',
]
const NOT_UP_TO_DATE: Words = [
  'The enclave’s hardware is not safe',
  'Do not order: its maker has published a hole in it, or has taken its word back. Tell the operator, who has to update or replace the machine.',
]
const NEWER: Words = [
  'This page cannot judge the evidence of the enclave',
  'Do not order. Reload the page: a newer one may know this kind of hardware. If it does not help, tell the operator.',
]
const FOREIGN: Words = [
  'The evidence is of another platform’s enclave',
  'Do not order: your order would go to somebody else. Report it to the operator.',
]

/** Why the evidence of an enclave is refused, by the code of the check. */
const EVIDENCE: Readonly<Record<AttestationErrorCode, Words>> = {
  'malformed-policy': [
    'This page’s list of programs cannot be read',
    'Nothing can be checked, so nothing is sent. Report it to the operator of this page.',
  ],
  'malformed-attestation': FORGED,
  'malformed-evidence': FORGED,
  'unknown-root': FORGED,
  'broken-chain': FORGED,
  'certificate-misused': FORGED,
  'invalid-signature': FORGED,
  'statement-differs': FORGED,
  'malformed-statement': FORGED,
  'log-differs': FORGED,
  'collateral-differs': FORGED,
  'unsupported-format': NEWER,
  'unsupported-algorithm': NEWER,
  'unsupported-version': NEWER,
  'certificate-expired': STALE,
  outdated: STALE,
  'collateral-missing': STALE,
  'collateral-expired': STALE,
  'certificate-revoked': NOT_UP_TO_DATE,
  'untrusted-platform': NOT_UP_TO_DATE,
  'debug-mode': [
    'The enclave runs in debug mode',
    'Do not order: its operator can read its memory. Report it to the operator.',
  ],
  'wrong-nonce': [UNPROVED, 'Its evidence is no answer to this page’s question. Try again.'],
  'unknown-program': [
    'The enclave runs a program that this page does not accept',
    'Do not order. Reload the page: a newer one may accept it. If it does not, ask the operator which release runs, and why.',
  ],
  'retired-program': [
    'The enclave runs a release whose time is over',
    'Do not order. Tell the operator, who has to start the next release.',
  ],
  'wrong-chain': FOREIGN,
  'wrong-escrow': FOREIGN,
  'wrong-signer': [
    'The chain names another enclave than the server',
    'While the enclave is replaced this can take a minute: try again. If it persists, do not order, and report it to the operator.',
  ],
  'wrong-configuration': [
    'The program runs with settings that this page does not accept',
    'Do not order: another broker or another node may read it. Reload the page; if it does not help, ask the operator what was changed.',
  ],
}

/** The same, for any `code`. */
const EVIDENCE_WORDS: ReadonlyMap<unknown, Words> = new Map(Object.entries(EVIDENCE))

/** The words of an AttestationError, itself or as a cause: its class is part of the verifier, which loads where it is needed. */
export function evidenceWords(error: unknown): Words | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'AttestationError') return EVIDENCE_WORDS.get(Object(error).code)
  return error instanceof ClientError ? evidenceWords(error.cause) : undefined
}
