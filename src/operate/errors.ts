import { isError } from 'ethers'
import { z } from 'zod'
import { DeployError } from '../chain/deploy.js'
import { isChainFailure } from '../chain/errors.js'
import { revertOf } from '../chain/reverts.js'
import type { Revert } from '../protocol/api.js'
import { ConfigError } from '../service/config.js'

/** The exit codes of every command; the help text and docs/operations/first-day.md list them. */
export const EXIT = {
  /** Done, or nothing had to change. */
  done: 0,
  /** Refused by a contract, a wrong key, or a fault found. */
  failed: 1,
  /** Arguments or settings are wrong; the command had no effect. */
  usage: 2,
  /** The question was answered with no; the command had no effect. */
  declined: 3,
  /** A transaction was sent and is not mined yet. */
  pending: 4,
  /** No node answered. */
  unavailable: 5,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Why a command failed: `code` is stable and for programs, `message` and `remedy` are for people. */
export class OperateError extends Error {
  override readonly name = 'OperateError'

  constructor(
    readonly exit: ExitCode,
    readonly code: string,
    message: string,
    readonly remedy: string,
  ) {
    super(message)
  }
}

/** Remedies for the contracts' errors that an operator meets, by the error's name. */
const CONTRACT_REMEDIES: Readonly<Record<string, string>> = {
  NotOwner: "name the key of the contracts' owner in OWNER_PRIVATE_KEY_FILE",
  NotGuardian: "name the guardian's key in GUARDIAN_PRIVATE_KEY_FILE",
  NotFounded: 'the founder has to found the institution under exactly this name first',
  NotAdmitted: 'check the name: no institution of this name was ever admitted',
  InstitutionTaken: 'check the admin: another one has this name',
  AlreadyInInstitution: 'the founder has to leave its institution first',
  PauseTooEarly: 'the guardian can pause again 30 days after the end of the last pause',
  NotPaused: 'no pause is in force',
  NoRotation: 'no change of this role is scheduled',
  PoolShort: 'name a smaller amount',
  InvalidName: 'expected 1 to 31 printable ASCII characters',
  ReservedSymbol: 'no equity can have this symbol',
  ERC20InsufficientBalance: 'the account does not hold that much USDC',
}

/** An error of the file system, which names what it is about. */
const fileErrorSchema = z.looseObject({ syscall: z.string(), path: z.string(), code: z.string() })

/** Any failure as one with code, remedy and exit code. The text of an unknown error is withheld: it may quote a URL. */
export function failureOf(error: unknown): OperateError {
  if (error instanceof OperateError) return error
  if (error instanceof ConfigError) return settingsFailure(error)
  if (error instanceof DeployError) return deployFailure(error)
  if (isChainFailure(error) || isError(error, 'NETWORK_ERROR') || isError(error, 'TIMEOUT')) {
    const text = 'no node of RPC_URL gave a usable answer'
    return new OperateError(EXIT.unavailable, 'chain-unavailable', text, 'check RPC_URL, and try again')
  }
  if (isError(error, 'INSUFFICIENT_FUNDS')) {
    const text = 'the account that sends does not have enough ether for the gas'
    return new OperateError(EXIT.failed, 'insufficient-funds', text, 'send it ether, and try again')
  }
  const revert = revertOf(error)
  if (revert) return contractFailure(revert)
  const file = fileErrorSchema.safeParse(error).data
  if (file !== undefined) {
    const text = `${file.path} cannot be used (${file.code})`
    const remedy = 'name a directory with --directory that this user may write to'
    return new OperateError(EXIT.usage, 'file-unusable', text, remedy)
  }
  return new OperateError(EXIT.failed, 'failed', shortMessage(error), 'try again; report it if it stays')
}

export function contractFailure({ name, args }: Revert): OperateError {
  const listed = Object.entries(args).map(([argument, value]) => `${argument} ${value}`)
  const text = `the contract refuses it: ${name}${listed.length === 0 ? '' : ` (${listed.join(', ')})`}`
  const remedy = CONTRACT_REMEDIES[name] ?? 'docs/contracts.md says when the contract refuses it'
  return new OperateError(EXIT.failed, kebab(name), text, remedy)
}

/** For arguments that are wrong. */
export function usage(message: string, remedy: string): OperateError {
  return new OperateError(EXIT.usage, 'usage', message, remedy)
}

function settingsFailure({ faults }: ConfigError): OperateError {
  const text = `the settings are wrong:\n${faults.map(({ name, problem }) => `  ${name}: ${problem}`).join('\n')}`
  const remedy =
    'set what is named above; "operate --help" has each, and "operate deploy --help" those of deploy'
  return new OperateError(EXIT.usage, 'settings', text, remedy)
}

function deployFailure({ code, message }: DeployError): OperateError {
  const sent = code === 'deployment-failed' || code === 'address-mismatch'
  const remedy = sent
    ? 'what was deployed is of no use: deploy again from an account that sends nothing else'
    : 'nothing was sent: correct the value, and deploy again'
  return new OperateError(sent ? EXIT.failed : EXIT.usage, code, message, remedy)
}

function kebab(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
}

/** An ethers error's message contains the whole transaction, and may quote the node's URL; its short message does not. */
function shortMessage(error: unknown): string {
  if (error instanceof Error && 'shortMessage' in error) return String(error.shortMessage)
  return 'an unexpected error occurred'
}
