import { type ClientErrorCode, ContractError, ServerError, toTradingError } from '../../src/client/index.js'
import { revertWords, type Words } from './contractWords.js'
import { evidenceWords, FORGED } from './evidenceWords.js'

/** A failure of the page's own, which brings its words. */
export abstract class PageError extends Error {
  abstract readonly words: Words
}

const OVERTAKEN: Words = [
  'Another rulebook was published first',
  'Yours was not published. Start again from the one in force.',
]

/** Another rulebook came into force since the draft was begun; nothing was signed. */
export class OvertakenError extends PageError {
  override readonly name = 'OvertakenError'
  override readonly words = OVERTAKEN
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

const CLIENT: Partial<Record<ClientErrorCode, Words>> = {
  'contract-wallet': [
    'This wallet signs as a contract',
    'It signs by no key of its own. Make a key file under “Portfolio key”, then order.',
  ],
  'no-account': ['The wallet shares no account with this page', 'Connect it again, and allow this page.'],
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
    'It cannot make the key of your portfolio again. Make a key file under “Portfolio key”, then order.',
  ],
  'wrong-chain': [
    'The wallet is on another chain',
    'Switch it to the chain of this platform, and try again.',
  ],
  'untrusted-enclave-key': DISTRUST,
  'untrusted-escrow': DISTRUST,
  'unattested-enclave': [
    'The server shows no evidence of its enclave',
    'Do not order: nothing proves who would read it. An enclave that has just started shows it within a minute. If it stays away, tell the operator.',
  ],
  'untrusted-enclave': FORGED,
  'unannounced-program': [
    'The chain names another program than the enclave proves',
    'Do not order: the program was not announced. Report it to the operator.',
  ],
  'revoked-program': [
    'The program of the enclave was revoked',
    'Do not order: the platform’s guardian trusts it no more. Orders are possible again once another release runs.',
  ],
  'unknown-scheme': RELOAD,
  'unexpected-answer': [
    'This page cannot read an answer of the server or the chain’s node',
    'Try again. If it persists, reload the page: it may be older than the server.',
  ],
  'not-admin': ['This wallet is not the admin of an institution', 'Connect the admin’s wallet.'],
  'unlisted-symbol': ['This symbol is not listed', 'Nothing was signed or sent. Choose another symbol.'],
  'insufficient-usdc': [
    'The wallet holds less USDC than the order needs',
    'Choose a smaller amount, or pay from the cash in your portfolio.',
  ],
  'insufficient-shares': [
    'The wallet holds fewer shares than the deposit takes',
    'No shares moved. Choose a smaller amount.',
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
  'code-not-loaded': [
    'A part of this page could not be loaded',
    'Check your connection, and reload the page: it may have been renewed since you opened it.',
  ],
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
    'Nothing was sent, because the portfolio would be sealed to the older key. Choose the file of the newer key; if it is lost, make a new key.',
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
  'node-unavailable': [
    'The chain’s node cannot be reached',
    'Check your connection, and try again in a minute.',
  ],
  'node-timeout': ['The chain’s node is slow', 'It gave no answer within half a minute. Try again later.'],
  'node-rate-limited': [
    'The chain’s node limits how often it is asked',
    'Many people may be asking it at this moment. Try again in a minute.',
  ],
  'too-much-to-read': [
    'The chain’s node does not give so much at once',
    'It refuses even the events of a single block. Choose another node in your wallet, or tell the operator.',
  ],
  'node-wrong-chain': [
    'This page’s node is of another chain',
    'Nothing of it is shown. Report it to the operator: the page’s settings name the wrong node.',
  ],
  'invalid-copy': [
    'This is not a copy of your institution’s rulebook',
    'Choose a file that was exported where the rulebook was published.',
  ],
  'outdated-copy': [
    'The copy has another version than the one in force',
    'Another rulebook has replaced it. Import a copy of the new one, from where it was published.',
  ],
  'copy-undecryptable': [
    'Your wallet cannot open this copy',
    'It was sealed to another wallet or portfolio key, or the file was altered.',
  ],
  'copy-unconfirmed': [
    'Your wallet no longer confirms this copy',
    'It is a contract, and its owners may have changed since. Nobody can tell who wrote the copy. Import the rules below from your own file, check them, and publish: the new copy counts.',
  ],
  unexpected: ['An unexpected error occurred', 'Try again. If it persists, reload the page.'],
}

const SERVER: Record<string, Words> = {
  'server-unavailable': ASLEEP,
  'shutting-down': ASLEEP,
  'opening-not-sponsored': [
    'The platform pays network fees only for members of its institutions',
    'Pay the network fee from your wallet.',
  ],
  'order-ended': [
    'It is too late to cancel',
    'The order has already ended. Its result appears here in a moment.',
  ],
  'enclave-timeout': [
    'The enclave is taking longer than the server waits',
    'It may still succeed: check the version in a minute.',
  ],
}

/** By the error's `code`. */
const WORDS = new Map(Object.entries({ ...CLIENT, ...SERVER }))

const UNSIGNED: Words = [
  'The rulebook’s signature is not one of the admin',
  'Nothing was published. Another wallet is the admin now, or the owners of this one have changed: publish it again, with a new signature.',
]

/** By the `reason` of a rejected rulebook. */
const POLICY = new Map<unknown, Words>([
  [
    'unlisted-symbol',
    ['The rulebook names a symbol that is not listed', 'Correct the restricted symbols, and publish again.'],
  ],
  ['version-conflict', OVERTAKEN],
  ['not-admin', UNSIGNED],
  ['invalid-signature', UNSIGNED],
])

const QUOTA_USED: Words = [
  'The platform’s daily allowance for your network fees is used up',
  'Pay the network fee from your wallet, or try again after midnight UTC.',
]

const NO_OPENING_LEFT: Words = [
  'The platform pays no further network fees for you just now',
  'Too many of your orders are under way or were refused. Pay the network fee from your wallet, or try again later.',
]

const RULEBOOK_QUOTA_USED: Words = [
  'The platform’s daily allowance for your institution’s rulebooks is used up',
  'The rulebook in force stays in force. Go on with this one after midnight UTC, or ask the platform’s operator for more.',
]

/** The failure of an action that the user started, and may repeat. */
export function failureOf(error: unknown): Failure {
  const [title, advice] = wordsOf(error)
  return { title, advice }
}

/** The failure of a poll, which the page repeats. */
export function polledFailureOf(error: unknown): Failure {
  if (isAsleep(error)) return { title: KEEPS_TRYING[0], advice: KEEPS_TRYING[1] }
  const { title, advice } = failureOf(error)
  return { title, advice: GOES_ON[toTradingError(error).code] ?? advice }
}

/** By the code of a failure after which the page reads on by itself. */
const GOES_ON: Partial<Record<string, string>> = {
  'node-unavailable': 'Check your connection. This page keeps trying, and goes on where it stopped.',
  'node-timeout':
    'It gave no answer within half a minute. This page asks for less at a time, and goes on where it stopped.',
  'node-rate-limited': 'This page keeps trying, and goes on where it stopped.',
  'chain-reorganized': 'Its newest blocks were replaced, which is normal. This page reads them again.',
}

/** Failures of the chain's node, whatever was asked: no node, a slow one, one that gives less than is to be read, or of another chain. */
const OF_NODE: ReadonlySet<string> = new Set([
  ...Object.keys(GOES_ON),
  'too-much-to-read',
  'node-wrong-chain',
])

export function isOfNode(error: unknown): boolean {
  return OF_NODE.has(toTradingError(error).code)
}

/** Whether the server is away. One that answers 502 or 503 itself is running, and says what it lacks. */
export function isAsleep(error: unknown): boolean {
  return WORDS.get(toTradingError(error).code) === ASLEEP
}

/** Whether the platform has not admitted the institution. */
export function isUnadmitted(error: unknown): boolean {
  return toTradingError(error).code === 'institution-not-found'
}

/** Whether neither chain nor server knows the order yet, for example because it was just placed. */
export function isUnknownOrder(error: unknown): boolean {
  return toTradingError(error).code === 'order-not-found'
}

function wordsOf(error: unknown): Words {
  if (error instanceof PageError) return error.words
  const evidence = evidenceWords(error)
  if (evidence !== undefined) return evidence
  const failure = toTradingError(error)
  const words = WORDS.get(failure.code)
  if (words !== undefined) return words
  if (failure instanceof ServerError) return problemWords(failure)
  if (failure instanceof ContractError) return revertWords({ name: failure.code, args: failure.args })
  if (failure.code === 'not-submitted') {
    const [reason] = wordsOf(failure.cause)
    return [
      'The order is open, but the server does not have it yet',
      `${reason}. Submit it again below; your funds are safe.`,
    ]
  }
  return ['This did not work', failure.message]
}

/** The server's own words, unless a member of its problem says more. */
function problemWords({ code, problem, requestId }: ServerError): Words {
  const { title = 'The server refused it', detail = '', reason, revert, quota } = { ...problem }
  if (code === 'would-revert' && revert !== undefined) return revertWords(revert)
  if (code === 'relay-quota-exhausted' && quota === 'account') return QUOTA_USED
  if (code === 'relay-quota-exhausted' && quota === 'opening') return NO_OPENING_LEFT
  if (code === 'relay-quota-exhausted' && quota === 'institution') return RULEBOOK_QUOTA_USED
  if (code === 'policy-rejected') {
    const unknown: Words = [
      `The enclave refused the rulebook (${String(reason)})`,
      'The previous one stays in force.',
    ]
    return POLICY.get(reason) ?? unknown
  }
  const reference = requestId === null ? '' : ` Quote ${requestId} when you report it.`
  return [title, `${detail}${reference}`.trim()]
}

/** The server's state by its last poll, and whether that is good. */
export function serverWords(
  answered: boolean,
  error: unknown,
): readonly [words: string, tone: 'good' | 'bad' | null] {
  if (error === null) return answered ? ['answers', 'good'] : ['checking…', null]
  return [isAsleep(error) ? 'silent' : 'answers with an error', 'bad']
}
