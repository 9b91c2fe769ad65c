import {
  ClientError,
  type ClientErrorCode,
  ContractError,
  NotSubmittedError,
  ServerError,
  toTradingError,
} from '../../src/client/index.js'
import { UnknownChainError } from '../wallet/chain.js'
import { revertWords, type Words } from './contractWords.js'

/** The user stopped an order whose id another wallet keeps taking. */
export class PlacingStopped extends Error {
  override readonly name = 'PlacingStopped'
}

/** The page knows the names, but the browser does not store them. */
export class NotStoredError extends Error {
  override readonly name = 'NotStoredError'
}

/** No key in this page opens the stored names, and a change would overwrite them. */
export class UnreadableNamesError extends Error {
  override readonly name = 'UnreadableNamesError'
}

/** A failure in plain words: what happened, and the remedy. */
export interface Failure {
  readonly title: string
  readonly advice: string
}

const ASLEEP: Words = ['The server does not answer', 'Check your connection, and try again in a minute.']
const KEEPS_TRYING: Words = [
  ASLEEP[0],
  'This page keeps trying. Orders that the server has already received continue when it is back.',
]
const REFUSED: Words = [
  'You declined in your wallet',
  'Nothing was sent. To continue, start again and confirm in your wallet.',
]
const DISTRUST: Words = [
  'The server’s configuration differs from this page’s',
  'Do not trade here. Report it to the operator: the server or this page was altered.',
]
const RELOAD: Words = [
  'This page cannot read the server’s answer',
  'Reload the page: it may be older than the server.',
]

const UNREADABLE_NAMES: Words = [
  'No key in this page opens the names',
  'If you made a new portfolio key, choose its file on the desk.',
]

const CLIENT: Partial<Record<ClientErrorCode, Words>> = {
  'contract-wallet': [
    'This wallet is a contract',
    'The enclave only accepts signatures of plain accounts. Connect one of those.',
  ],
  'no-account': ['The wallet reveals no account to this page', 'Connect it again, and allow this page.'],
  'wallet-refused': REFUSED,
  'wallet-busy': ['Your wallet is waiting for you', 'Open it and answer its request.'],
  'signature-refused': REFUSED,
  'transaction-refused': REFUSED,
  'signature-invalid': [
    'The signature belongs to another account',
    'Select the connected account in the wallet, and try again.',
  ],
  'wallet-not-deterministic': [
    'This wallet signs the same text differently each time',
    'You could never open your portfolio again. Use another wallet.',
  ],
  'wrong-chain': [
    'The wallet is on another chain',
    'Switch it to the chain of this platform, and try again.',
  ],
  'untrusted-enclave-key': DISTRUST,
  'untrusted-escrow': DISTRUST,
  'unknown-scheme': RELOAD,
  'unexpected-answer': RELOAD,
  'not-admin': ['This wallet is not the admin of an institution', 'Connect the admin’s wallet.'],
  'insufficient-usdc': [
    'The wallet holds less USDC than the order needs',
    'Choose a smaller amount, or pay from the cash in your portfolio.',
  ],
  'insufficient-funds': [
    'The wallet does not have enough ether for the fee',
    'Send some ether to it, and try again.',
  ],
  'transaction-pending': [
    'The transaction is not mined yet',
    'Your funds are safe. Check the transaction in your wallet; it may need a higher fee.',
  ],
  'transaction-replaced': [
    'Another transaction replaced it',
    'It was replaced or cancelled in the wallet. To continue, start again.',
  ],
  'opening-outstanding': [
    'An order that you signed can still be opened',
    'It is among your orders below: send it, or wait until its signature expires, at most ten minutes.',
  ],
  'opening-expired': [
    'The platform did not open the order in time',
    'Its signature has expired, and no money moved. Place it again, or pay the network fee yourself.',
  ],
  'opening-unsupported': ['The platform does not open orders here', 'Pay the network fee from your wallet.'],
  'server-unreachable': ASLEEP,
  'server-timeout': ASLEEP,
  'commit-differs': [
    'The server holds another envelope under this order’s id',
    'Submit the order again: the envelope that your escrow names replaces it.',
  ],
  'portfolio-undecryptable': [
    'No key in this page opens the portfolio',
    'If you made a new key, choose its file. If the file is lost, make another key; your next order then replaces the lost one.',
  ],
  'portfolio-key-missing': [
    'A newer key was made for this portfolio',
    'The order was not sent, because it would restore the older key. Choose the file of the newer key; if it is lost, make a new key.',
  ],
  'invalid-key-file': [
    'This is not a key file',
    'Choose the file that was saved when the key was made. It may be damaged: try your copy.',
  ],
  'foreign-key-file': [
    'This key file belongs to another wallet',
    'Connect that wallet, or choose the file of this one.',
  ],
  'chain-reorganized': [
    'The chain changed while it was read',
    'Its newest blocks were replaced, which is normal. Try again.',
  ],
  'node-unavailable': ['The chain does not answer', 'Check your connection, and try again in a minute.'],
  'invalid-copy': [
    'This is not a copy of your institution’s rulebook',
    'Choose the file that was exported where the rulebook in force was published.',
  ],
  'outdated-copy': [
    'The copy has another version than the one in force',
    'Another rulebook has replaced it. Import a copy of the new one, from where it was published.',
  ],
  'copy-undecryptable': [
    'Your wallet cannot open this copy',
    'It was sealed to another wallet or portfolio key, or the file was altered.',
  ],
  unexpected: ['An unexpected error occurred', 'Try again. If it persists, reload the page.'],
}

const POLICY: Record<string, Words> = {
  'unlisted-symbol': [
    'The rulebook names a symbol that is not listed',
    'Correct the restricted symbols, and publish again.',
  ],
  'version-conflict': [
    'Another rulebook was published first',
    'Yours was not published. Start again from the one in force.',
  ],
}

/** Bad gateway, unavailable, gateway timeout (RFC 9110, 15.6.3 to 15.6.5). */
const PROXY_SAYS_AWAY = new Set([502, 503, 504])

/** The failure of an action that the user started, and may repeat. */
export function failureOf(error: unknown): Failure {
  const words = wordsOf(error)
  return { title: words[0], advice: words[1] }
}

/** The failure of a poll, which the page repeats. */
export function polledFailureOf(error: unknown): Failure {
  if (!isAsleep(error)) return failureOf(error)
  return { title: KEEPS_TRYING[0], advice: KEEPS_TRYING[1] }
}

/**
 * Whether the server is unreachable: silent, shutting down, or a proxy answers for it without a problem body. A server
 * that answers 502 or 503 with a problem body is running, and says what it lacks.
 */
export function isAsleep(error: unknown): boolean {
  if (error instanceof ClientError) return CLIENT[error.code] === ASLEEP
  if (!(error instanceof ServerError)) return false
  if (error.problem !== null) return error.code === 'shutting-down'
  return PROXY_SAYS_AWAY.has(error.status)
}

/** Whether the platform has not admitted the institution. */
export function isUnadmitted(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'institution-not-found'
}

/** Whether neither chain nor server knows the order yet, for example because it was just placed. */
export function isUnknownOrder(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'order-not-found'
}

function wordsOf(error: unknown): Words {
  if (error instanceof PlacingStopped) {
    return [
      'You stopped this order',
      'No escrow was opened. Report the wallet that took the id to the operator.',
    ]
  }
  if (error instanceof NotSubmittedError) {
    const [title] = wordsOf(error.cause)
    return [
      'The order is open, but the server does not have it yet',
      `${title}. Submit it again below; your funds are safe.`,
    ]
  }
  if (error instanceof UnknownChainError) {
    const { name, id } = error.chain
    return [
      'Your wallet does not know this chain',
      `Add ${name}, chain id ${id}, among the networks in your wallet, and try again.`,
    ]
  }
  if (error instanceof NotStoredError) {
    return [
      'This browser does not store the names',
      'They are lost when you disconnect. Allow this page to store data, and save them again.',
    ]
  }
  if (error instanceof UnreadableNamesError) return UNREADABLE_NAMES
  const known = toTradingError(error)
  if (known instanceof ServerError) return serverWords(known)
  if (known instanceof ContractError) return revertWords({ name: known.code, args: known.args })
  return (known instanceof ClientError && CLIENT[known.code]) || ['This did not work', known.message]
}

function serverWords(error: ServerError): Words {
  if (isAsleep(error)) return ASLEEP
  if (error.code === 'policy-rejected') {
    const reason = String(error.problem?.reason)
    return (
      POLICY[reason] ?? [`The enclave refused the rulebook (${reason})`, 'The previous one stays in force.']
    )
  }
  const revert = error.problem?.revert
  if (error.code === 'would-revert' && revert !== undefined) return revertWords(revert)
  if (error.code === 'relay-quota-exhausted' && error.problem?.quota === 'account') {
    return [
      'The platform has paid as much for your wallet today as it does',
      'Pay the network fee from your wallet, or try again after midnight UTC.',
    ]
  }
  if (error.code === 'enclave-timeout') {
    return [
      'The enclave is taking longer than the server waits',
      'It may still succeed: check the version in a minute.',
    ]
  }
  const reference = error.requestId === null ? '' : ` Quote ${error.requestId} when you report it.`
  return [
    error.problem?.title ?? 'The server refused it',
    `${error.problem?.detail ?? ''}${reference}`.trim(),
  ]
}
