import { CommanderError } from 'commander'
import * as z from 'zod'
import { DeployError } from '../chain/deploy.js'
import { revertOf } from '../chain/reverts.js'
import { ContractError, TradingError, toTradingError } from '../client/index.js'
import type { Revert } from '../protocol/api.js'
import { ConfigError } from '../service/config.js'
import { DirectoryLockedError } from '../service/directoryLock.js'
import { EXIT, type ExitCode } from '../service/exitCodes.js'

/** `remedy` is null where each message says it. */
type Entry = readonly [exit: ExitCode, remedy: string | null]

const DEPLOY_AGAIN = 'nothing was sent: correct the value, and deploy again'
const DEPLOYED_IN_VAIN =
  'what was deployed is of no use: deploy again from an account that sends nothing else'

/** Failures of the commands themselves, by code. */
const OWN = {
  usage: [EXIT.usage, '--help lists the arguments of the command'],
  settings: [EXIT.usage, 'set what is named above; --help of the command or of the program has each'],
  'confirmation-needed': [EXIT.usage, 'give --yes to go on without a question'],
  declined: [EXIT.refused, 'run the command again to change your mind'],
  pending: [EXIT.pending, null],
  interrupted: [EXIT.interrupted, null],
  // The same command would open a second escrow.
  'not-submitted': [EXIT.failed, null],
  'file-unusable': [EXIT.usage, 'name a path that this user may read and write'],
  'directory-locked': [EXIT.failed, null],
  'directory-foreign': [EXIT.failed, null],
  'port-taken': [EXIT.failed, null],
  'build-missing': [EXIT.failed, null],
  'already-deployed': [
    EXIT.failed,
    'restore the files from their backup: a new key opens nothing that is on the chain',
  ],
  'other-deployment': [EXIT.usage, 'deploy in another directory, or move its files away'],
  'deployment-missing': [EXIT.usage, 'run "deploy", or name its directory with --directory'],
  'deployment-malformed': [EXIT.usage, 'take the file that "deploy" wrote'],
  'desk-unreadable': [EXIT.usage, 'take the file that "deploy" wrote'],
  'secret-shared': [EXIT.usage, null],
  'secret-malformed': [EXIT.usage, 'restore it from its backup, or remove it'],
  'secrets-differ': [EXIT.usage, 'remove one of the two, and run "keys" again'],
  'not-owner': [EXIT.failed, "name the key of the contracts' owner in OWNER_PRIVATE_KEY_FILE"],
  'not-guardian': [EXIT.failed, "name the guardian's key in GUARDIAN_PRIVATE_KEY_FILE"],
  reverted: [EXIT.failed, 'run the command again: it checks first'],
  'insufficient-usdc': [EXIT.failed, 'name a smaller amount'],
  'insufficient-funds': [EXIT.failed, 'send it ether, and try again'],
  'transaction-pending': [
    EXIT.pending,
    'look the transaction up in an explorer before you run the command again',
  ],
  'order-unreadable': [EXIT.failed, "see --help for the enclave's report"],
  'move-not-due': [EXIT.failed, 'look at its events with "watch", or at "confidential-trading move show"'],
  'actions-unreadable': [EXIT.failed, "see --help for the enclave's report"],
  'action-unplanned': [EXIT.failed, '"actions" lists what is known of it'],
  'evidence-refused': [EXIT.refused, 'docs/attestation.md explains the code; nothing was sent or kept'],
  'evidence-unreadable': [EXIT.usage, 'docs/attestation.md explains the code; nothing was sent or kept'],
  'evidence-unsupported': [EXIT.failed, 'docs/attestation.md explains the code; nothing was sent or kept'],
  'enclave-unavailable': [EXIT.unavailable, 'check --enclave-url, and that the enclave waits for its keys'],
  'share-missing': [EXIT.failed, 'name the key whose public key is among the holders'],
  'share-false': [EXIT.failed, "give the right one in its place, or another holder's besides"],
  'image-malformed': [
    EXIT.usage,
    'name the file that the tools of docs/operations/attested-machines.md wrote',
  ],
  'order-not-written-ahead': [EXIT.failed, 'look at GET /orders/<order>'],
  'server-unavailable': [EXIT.unavailable, 'try again'],
} as const satisfies Record<string, Entry>
type OwnCode = keyof typeof OWN

/** Failures whose code is that of the client, of a contract's error or of the deployment. */
const OTHERS: Record<string, Entry> = {
  'node-unavailable': [EXIT.unavailable, "check the node's URL (RPC_URL, or --rpc), and try again"],
  'node-timeout': [EXIT.unavailable, 'try again later, or name a faster node (RPC_URL, or --rpc)'],
  'node-rate-limited': [EXIT.unavailable, 'try again later'],
  'too-much-to-read': [EXIT.unavailable, 'name another node (RPC_URL, or --rpc)'],
  'policy-rejected': [EXIT.refused, 'correct the rulebook, and publish it again'],
  'unlisted-symbol': [EXIT.usage, '"status" lists the symbols'],
  unexpected: [EXIT.failed, 'try again; report it if it stays'],
  'not-founded': [EXIT.failed, 'the founder has to found the institution under exactly this name first'],
  'not-admitted': [EXIT.failed, 'check the name: no institution of this name was ever admitted'],
  'institution-taken': [EXIT.failed, 'check the admin: another one has this name'],
  'already-in-institution': [EXIT.failed, 'the founder has to leave its institution first'],
  'pause-too-early': [EXIT.failed, 'the guardian can pause again 30 days after the end of the last pause'],
  'not-paused': [EXIT.failed, 'no pause is in force'],
  'no-rotation': [EXIT.failed, 'no change of this role is scheduled'],
  'pool-short': [EXIT.failed, 'name a smaller amount'],
  'invalid-name': [EXIT.failed, 'expected 1 to 31 printable ASCII characters'],
  'reserved-symbol': [EXIT.failed, 'no equity can have this symbol'],
  'erc20-insufficient-balance': [EXIT.failed, 'the account does not hold that much USDC'],
  'deployment-failed': [EXIT.failed, DEPLOYED_IN_VAIN],
  'address-mismatch': [EXIT.failed, DEPLOYED_IN_VAIN],
}

/** A failure of a command; its message quotes no secret. `code` alone says what it is, how the program exits, and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'

  constructor(
    readonly code: OwnCode,
    message: string,
    readonly requestId: string | null = null,
    /** Each that is wrong, of a file that has several. */
    readonly faults: readonly string[] = [],
  ) {
    super(message)
  }
}

/** Arguments are wrong; the command had no effect. */
export function usage(message: string, faults: readonly string[] = []): CommandError {
  return new CommandError('usage', message, null, faults)
}

/** The code and title of a refusal by the enclave or the server, whose codes are documented and not listed here. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'

  constructor(
    readonly code: string,
    title: string,
  ) {
    super(title)
  }
}

/** How a command failed: `code` for programs, `message` and `remedy` for people. */
export interface Failure {
  readonly exit: ExitCode
  /** Stable and kebab-case: the server's, the client's or the contract's own, or one of this table. */
  readonly code: string
  readonly message: string
  /** Of settings, or of a file: each that is wrong. */
  readonly faults?: readonly string[]
  /** Null where the message says it. */
  readonly remedy: string | null
  /** The request id of the server's answer; quote it in a report. */
  readonly requestId: string | null
}

/** An error of the file system, which names its subject. */
const fileErrorSchema = z.looseObject({ syscall: z.string(), path: z.string(), code: z.string() })

/** Any failure as one with code, remedy and exit code. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CommandError) {
    const { code, message, requestId, faults } = error
    return { ...failed(code, message), requestId, ...(faults.length > 0 && { faults }) }
  }
  if (error instanceof CommanderError) return failed('usage', wordsOf(error))
  if (error instanceof ConfigError) {
    const faults = error.faults.map(({ name, problem }) => `${name}: ${problem}`)
    return { ...failed('settings', 'the settings are wrong'), faults }
  }
  if (error instanceof DeployError) return failed(error.code, error.message, [EXIT.usage, DEPLOY_AGAIN])
  if (error instanceof DirectoryLockedError) return failed('directory-locked', error.message)
  if (error instanceof RefusedError) {
    return failed(error.code, error.message, [EXIT.failed, 'docs/protocol.md explains the code'])
  }
  if (error instanceof ContractError) return contractFailure({ name: error.code, args: error.args })
  if (!(error instanceof TradingError)) {
    const revert = revertOf(error)
    if (revert) return contractFailure(revert)
    const { data: file } = fileErrorSchema.safeParse(error)
    if (file) return failed('file-unusable', `${file.path} cannot be used (${file.code})`)
  }
  const { code, message, requestId, retryable } = toTradingError(error)
  const exit = retryable ? EXIT.unavailable : EXIT.failed
  return { exit, remedy: null, ...known(code), code, message: withoutUrls(message), requestId }
}

function wordsOf({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'a command is missing'
  return message.replace(/^error: /, '').replaceAll('\n', ' ')
}

function contractFailure({ name, args }: Revert): Failure {
  const listed = Object.entries(args).map(([argument, value]) => `${argument} ${value}`)
  const text = `the contract refuses it: ${name}${listed.length === 0 ? '' : ` (${listed.join(', ')})`}`
  return failed(kebab(name), text, [EXIT.failed, 'docs/contracts.md says when the contract refuses it'])
}

function failed(code: string, message: string, otherwise: Entry = [EXIT.failed, null]): Failure {
  const [exit, remedy] = otherwise
  return { exit, remedy, ...known(code), code, message, requestId: null }
}

const TABLE: ReadonlyMap<string, Entry> = new Map(Object.entries({ ...OWN, ...OTHERS }))

function known(code: string): Pick<Failure, 'exit' | 'remedy'> | undefined {
  const entry = TABLE.get(kebab(code))
  return entry && { exit: entry[0], remedy: entry[1] }
}

/** Of a contract's error: `NotFounded` is `not-founded`. */
function kebab(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
}

/** The text of an unknown error may quote a node's URL, which may hold a key. */
function withoutUrls(message: string): string {
  return message.replace(/\b(?:https?|wss?):\/\/\S+/g, 'a URL')
}
