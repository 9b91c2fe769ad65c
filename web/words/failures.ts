import { isError } from 'ethers'
import {
  ClientError,
  type ClientErrorCode,
  ContractError,
  NotSubmittedError,
  ServerError,
} from '../../src/client/index.js'
import { UnknownChainError } from '../wallet/chain.js'
import { walletCode } from '../wallet/walletCode.js'
import { contractWords, type Words } from './contractWords.js'

/** The person has had enough of an order that somebody is in the way of. */
export class PlacingStopped extends Error {
  override readonly name = 'PlacingStopped'
}

/** A failure for a person: what happened, and what to do. */
export interface Failure {
  readonly title: string
  readonly advice: string
}

const ASLEEP: Words = [
  'The server does not answer',
  'On free hosting it falls asleep when nobody uses it, and wakes up within a minute. Try again then.',
]
const KEEPS_TRYING: Words = [
  ASLEEP[0],
  'On free hosting it falls asleep when nobody uses it, and wakes up within a minute. This page keeps trying; leave it open.',
]
const NODE_SILENT: Words = [
  'The chain does not answer',
  'Its node cannot be reached at the moment. Check your connection and try again.',
]
const REFUSED: Words = [
  'You refused it in the wallet',
  'Nothing was sent. Start again and agree in the wallet if you want it done.',
]
const DISTRUST: Words = [
  'The server names something else than this page knows',
  'Do not trade here. Tell the people who run the platform: the server or this page was changed.',
]
const RELOAD: Words = [
  'The server answered something unknown',
  'Reload the page: it may be older than the server.',
]

const CLIENT: Partial<Record<ClientErrorCode, Words>> = {
  'contract-wallet': [
    'This wallet is a contract',
    'The enclave takes signatures of plain accounts only. Connect one of those.',
  ],
  'signature-refused': REFUSED,
  'transaction-refused': REFUSED,
  'signature-invalid': [
    'The signature is not one of this account',
    'Select the connected account in the wallet, and try again.',
  ],
  'wallet-not-deterministic': [
    'This wallet signs the same text differently each time',
    'Your portfolio could never be opened again. Use another wallet.',
  ],
  'wrong-chain': [
    'The wallet is on another chain',
    'Switch it to the chain of this platform, and try again.',
  ],
  'untrusted-enclave-key': DISTRUST,
  'untrusted-escrow': DISTRUST,
  'unknown-scheme': RELOAD,
  'unexpected-answer': RELOAD,
  'not-admin': ['This wallet is the admin of no institution', 'Connect the admin’s wallet.'],
  'insufficient-usdc': [
    'The wallet holds less USDC than the order needs',
    'Choose a smaller amount, or pay from the cash in your portfolio.',
  ],
  'transaction-pending': [
    'The transaction is not mined yet',
    'Nothing is lost. Look at it in your wallet; it may need a higher fee.',
  ],
  'transaction-replaced': [
    'Another transaction took its place',
    'It was replaced or cancelled in the wallet. Start again if you want it done.',
  ],
  'server-unreachable': ASLEEP,
  'server-timeout': ASLEEP,
  'commit-differs': [
    'Another envelope is kept under this order’s number',
    'Submit the order again: the one that your escrow names takes its place.',
  ],
  'portfolio-undecryptable': [
    'No key in this page opens the portfolio',
    'A new key was made for it: choose its file. If the file is lost, make a new key, and your next order puts that one in its place.',
  ],
  'portfolio-key-missing': [
    'A newer key was made for this portfolio',
    'Nothing was sent: the order would bring the older key back. Choose the file of the newer one; if it is lost, make a new key.',
  ],
  'invalid-key-file': [
    'This is no key file',
    'Choose the file that was saved when the key was made. It may be damaged: try your copy.',
  ],
  'foreign-key-file': [
    'This key file belongs to another wallet',
    'Connect that wallet, or choose the file of this one.',
  ],
  'invalid-copy': [
    'This is no copy of your institution’s rulebook',
    'Choose the file that was exported where the rulebook in force was published.',
  ],
  'outdated-copy': [
    'The copy is of another version than the one in force',
    'Another rulebook has replaced it. Import the copy of that one, from where it was published.',
  ],
  'copy-undecryptable': [
    'Your wallet does not open this copy',
    'It was sealed to another wallet or another portfolio key, or the file was changed.',
  ],
}

const POLICY: Record<string, Words> = {
  'unlisted-symbol': [
    'The rulebook names a symbol that is not listed',
    'Correct the restricted symbols, and publish again.',
  ],
  'version-conflict': [
    'Another rulebook was published in between',
    'Yours was not published. Begin again from the one in force.',
  ],
}

/** Wallets say no by this code (EIP-1193), and that they are waiting for the person by the other one. */
const USER_REJECTED = 4001
const REQUEST_PENDING = -32_002
/** As ethers has it when a node cannot be reached, is silent, or answers 500 and more. */
const NODE_FAILS = ['NETWORK_ERROR', 'TIMEOUT', 'SERVER_ERROR'] as const
/** Bad gateway, unavailable, gateway timeout (RFC 9110, 15.6.3 to 15.6.5). */
const PROXY_SAYS_AWAY = new Set([502, 503, 504])

/** Of something that a person started, and may start again. */
export function failureOf(error: unknown): Failure {
  const words = wordsOf(error)
  return { title: words[0], advice: words[1] }
}

/** Of something that the page asks for again by itself. */
export function polledFailureOf(error: unknown): Failure {
  if (!isAsleep(error)) return failureOf(error)
  return { title: KEEPS_TRYING[0], advice: KEEPS_TRYING[1] }
}

/**
 * Whether the server is out of reach: silent, going down, or answered for by a proxy, which sends no problem body. A
 * server that answers 502 or 503 with one is awake, and says what it lacks.
 */
export function isAsleep(error: unknown): boolean {
  if (error instanceof ClientError) return CLIENT[error.code] === ASLEEP
  if (!(error instanceof ServerError)) return false
  if (error.problem !== null) return error.code === 'shutting-down'
  return PROXY_SAYS_AWAY.has(error.status)
}

/** Whether the institution is one that the platform has not admitted. */
export function isUnadmitted(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'institution-not-found'
}

/** Whether neither chain nor server know the order, so far: it was just placed, perhaps. */
export function isUnknownOrder(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'order-not-found'
}

function wordsOf(error: unknown): Words {
  if (error instanceof PlacingStopped) {
    return ['You stopped it', 'Nothing was opened. Name the wallet that was in the way to the operator.']
  }
  if (error instanceof NotSubmittedError) {
    const [title] = wordsOf(error.cause)
    return [
      'The order is open, but the server does not have it yet',
      `${title}. Submit it again below; nothing is lost meanwhile.`,
    ]
  }
  if (error instanceof ClientError) {
    return CLIENT[error.code] ?? ['This cannot be done', error.message]
  }
  if (error instanceof ServerError) return serverWords(error)
  if (error instanceof ContractError) return contractWords(error)
  if (error instanceof UnknownChainError) {
    const { name, id } = error.chain
    return [
      'Your wallet does not know this chain',
      `Add ${name}, chain id ${id}, among the networks in your wallet, and try again.`,
    ]
  }
  return walletWords(error)
}

function serverWords(error: ServerError): Words {
  if (isAsleep(error)) return ASLEEP
  if (error.code === 'policy-rejected') {
    const reason = String(error.problem?.reason)
    return (
      POLICY[reason] ?? [`The enclave refused the rulebook (${reason})`, 'The former one stays in force.']
    )
  }
  if (error.code === 'enclave-timeout') {
    return [
      'The enclave needs longer than the server waits',
      'It may still be done: look at the version in a minute.',
    ]
  }
  const reference = error.requestId === null ? '' : ` Quote ${error.requestId} when you report it.`
  return [
    error.problem?.title ?? 'The server refused it',
    `${error.problem?.detail ?? ''}${reference}`.trim(),
  ]
}

function walletWords(error: unknown): Words {
  const code = walletCode(error)
  if (isError(error, 'ACTION_REJECTED') || code === USER_REJECTED) return REFUSED
  if (code === REQUEST_PENDING) {
    return ['Your wallet is waiting for you', 'Open it: it has asked already, and needs your answer.']
  }
  if (isError(error, 'INSUFFICIENT_FUNDS')) {
    return ['The wallet has not enough ether for the fee', 'Send it some, and try again.']
  }
  if (NODE_FAILS.some((kind) => isError(error, kind)) || error instanceof TypeError) return NODE_SILENT
  return ['Something unexpected happened', 'Try again. If it stays, reload the page.']
}
