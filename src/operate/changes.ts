import type { Interface } from 'ethers'
import {
  type AuthorityRole,
  createAuthority,
  createContracts,
  createCorporateActions,
  createUsdc,
  ROLES,
} from '../chain/contracts.js'
import { interfaces } from '../chain/interfaces.js'
import { readProposals } from '../chain/proposals.js'
import { isSameProgram, type SignerProgram } from '../chain/signerProgram.js'
import { createViewCaller } from '../chain/views.js'
import { sameAddress, ZERO_ADDRESS } from '../protocol/address.js'
import { type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import { bytes32ToName, nameToBytes32 } from '../protocol/identifiers.js'
import { formatDecimal, USDC_DECIMALS } from '../protocol/units.js'
import { CommandError, usage } from '../terminal/failure.js'
import { type Call, type Chain, timeOf } from './chain.js'
import type { DeploymentFile } from './settings.js'

/** The contracts of one deployment, read through the chain's nodes. */
export type Platform = ReturnType<typeof createPlatform>

export function createPlatform({ rpc }: Chain, deployment: DeploymentFile) {
  const caller = createViewCaller(rpc)
  const contracts = createContracts(caller, deployment.contracts)
  const actions = async () => createCorporateActions(caller, await contracts.token.actions())
  return {
    ...contracts,
    authority: createAuthority(caller, deployment.authority),
    usdc: createUsdc(caller, deployment.usdc),
    actions,
    proposals: async () => readProposals(rpc, await actions(), await contracts.escrow.deployedAt()),
    time: () => timeOf(rpc),
  }
}

/** One change that an operator asks for, in words; `call` is null if the chain is already so. */
export interface Change {
  readonly text: string
  readonly call: Call | null
}

function change(
  isSo: boolean,
  text: string,
  { address }: { readonly address: Hex },
  abi: Interface,
  method: string,
  args: unknown[],
) {
  return { text, call: isSo ? null : { to: address, data: abi.encodeFunctionData(method, args), text } }
}

export async function listing({ token }: Platform, symbol: string, listed: boolean): Promise<Change> {
  const id = nameToBytes32(symbol)
  const isSo = (await token.isListed(id)) === listed
  const text = `${listed ? 'list' : 'delist'} ${symbol}`
  return change(isSo, text, token, interfaces.equityToken, 'setListed', [id, listed])
}

export async function clearance({ token }: Platform, wallet: Hex, verified: boolean): Promise<Change> {
  const isSo = (await token.isKyc(wallet)) === verified
  const text = verified ? `record that ${wallet} has passed KYC` : `withdraw the KYC of ${wallet}`
  return change(isSo, text, token, interfaces.equityToken, 'setKyc', [wallet, verified])
}

export async function freezing(
  { token }: Platform,
  symbol: string,
  wallet: Hex,
  frozen: boolean,
): Promise<Change> {
  const id = nameToBytes32(symbol)
  const isSo = (await token.isFrozen(id, wallet)) === frozen
  const text = `${frozen ? 'freeze' : 'release'} the ${symbol} of ${wallet}`
  return change(isSo, text, token, interfaces.equityToken, 'setFrozen', [id, wallet, frozen])
}

/** @param admin the founder, for the first admission; null for the admin that the institution has */
export async function admission(
  { registry }: Platform,
  name: string,
  admin: Hex | null,
  admitted: boolean,
): Promise<Change> {
  const orgId = nameToBytes32(name)
  const [isAdmitted, current] = await Promise.all([registry.isAdmitted(orgId), registry.adminOf(orgId)])
  const named = admin ?? current
  if (named === ZERO_ADDRESS) {
    throw usage(
      `no institution "${name}" was ever admitted: check the name, or name its founder's wallet too`,
    )
  }
  const isSo = isAdmitted === admitted && sameAddress(current, named)
  const text = `${admitted ? 'admit' : 'suspend'} "${name}" of ${named}`
  return change(isSo, text, registry, interfaces.institutionRegistry, 'setAdmitted', [orgId, named, admitted])
}

/** Approves the move of a lost wallet's portfolio, or ends it. */
export async function move({ registry }: Platform, from: Hex, to: Hex, approved: boolean): Promise<Change> {
  const found = await registry.moveOf(from)
  const isIts = found !== null && sameAddress(found.to, to)
  const abi = interfaces.institutionRegistry
  if (!approved) {
    return change(!isIts, `end the move of ${from} to ${to}`, registry, abi, 'withdrawMove', [from])
  }
  if (!isIts) throw usage(`no move of ${from} to ${to} is proposed`)
  const name = bytes32ToName(found.orgId) ?? found.orgId
  const text = `approve that "${name}" moves the whole portfolio of ${from} to ${to}`
  return change(found.effectiveAt > 0, text, registry, abi, 'approveMove', [from, to])
}

const ROTATE = { owner: 'rotateOwner', guardian: 'rotateGuardian', signer: 'rotateSigner' } as const

export function holderOf({ authority }: Pick<Platform, 'authority'>, role: AuthorityRole): Promise<Hex> {
  if (role === 'owner') return authority.owner()
  return role === 'guardian' ? authority.guardian() : authority.enclaveSigner()
}

/** Whether the chain names the program of its signer, or of the one that is announced. */
export async function isAttested({ authority }: Platform): Promise<boolean> {
  const programs = await Promise.all([authority.signerProgram(), authority.pendingProgram()])
  return programs.some((program) => program !== null)
}

/**
 * Schedules the next holder of a role. Asking again for the same one would begin the delay anew, so it is not sent.
 * @param program of an attested signer: another one is a change, too
 */
export async function rotation(
  platform: Platform,
  role: AuthorityRole,
  to: Hex,
  program: SignerProgram | null = null,
): Promise<Change> {
  const { authority } = platform
  const digests = role === 'signer' ? [program?.measurement, program?.config] : []
  const [holder, pending, delay, present, next] = await Promise.all([
    holderOf(platform, role),
    authority.pendingRotation(role),
    authority.rotationDelay(),
    authority.signerProgram(),
    authority.pendingProgram(),
  ])
  const isOfProgram = role !== 'signer' || isSameProgram(pending === null ? present : next, program)
  const isSo = isOfProgram && sameAddress(pending?.to ?? holder, to)
  const isFirst = holder === ZERO_ADDRESS
  const when = isFirst || delay === 0 ? 'at once' : `in ${shownTime(delay)}`
  const of = program === null ? '' : ` of the program ${program.measurement}`
  const text = `make ${to} the ${isFirst ? 'first ' : ''}${role}${of} ${when}${isFirst ? '' : `, in place of ${holder}`}`
  return change(isSo, text, authority, interfaces.authority, ROTATE[role], [
    to,
    ...digests.map((digest) => digest ?? ZERO_BYTES32),
  ])
}

export async function withdrawal(platform: Platform, role: AuthorityRole): Promise<Change> {
  const { authority } = platform
  const [pending, holder] = await Promise.all([authority.pendingRotation(role), holderOf(platform, role)])
  const text = `withdraw the scheduled change of the ${role}: ${holder} stays`
  const args = [ROLES.indexOf(role)]
  return change(pending === null, text, authority, interfaces.authority, 'withdrawRotation', args)
}

export async function pause({ authority }: Platform): Promise<Change> {
  const [until, longest] = await Promise.all([authority.pausedUntil(), authority.maxPause()])
  const text = `pause openings and the enclave's authorizations for ${shownTime(longest)}`
  return change(until > 0, text, authority, interfaces.authority, 'pause', [])
}

export async function liftedPause({ authority }: Platform): Promise<Change> {
  const isSo = (await authority.pausedUntil()) === 0
  return change(isSo, 'lift the pause', authority, interfaces.authority, 'liftPause', [])
}

export async function revocation({ authority }: Platform, measurement: Hex): Promise<Change> {
  const isSo = await authority.isRevoked(measurement)
  const text = `revoke the program of measurement ${measurement}, for good: no client trusts it any more`
  return change(isSo, text, authority, interfaces.authority, 'revokeMeasurement', [measurement])
}

/** Moves USDC of the pool to the broker's funding address: each call moves the amount once more. */
export async function treasury({ pool, usdc }: Platform, amount: bigint): Promise<Change> {
  const [held, funding] = await Promise.all([usdc.balanceOf(pool.address), pool.brokerFunding()])
  requireHeld(held, amount, 'the pool')
  const text = `move ${shownUsdc(amount)} of the pool's ${shownUsdc(held)} to the broker's funding address ${funding}`
  return change(false, text, pool, interfaces.platformPool, 'transferTreasury', [amount])
}

/** Adds USDC of the sender to the pool, after an approval where there is none: each call adds the amount once more. */
export async function poolFunding({ pool, usdc }: Platform, sender: Hex, amount: bigint): Promise<Change[]> {
  const [held, approved] = await Promise.all([usdc.balanceOf(sender), usdc.allowance(sender, pool.address)])
  requireHeld(held, amount, sender)
  const approval = `let the pool take ${shownUsdc(amount)} of ${sender}`
  const gift = `add ${shownUsdc(amount)} to the pool, without credit to anyone`
  return [
    change(approved >= amount, approval, usdc, interfaces.usdc, 'approve', [pool.address, amount]),
    change(false, gift, pool, interfaces.platformPool, 'fund', [amount]),
  ]
}

function requireHeld(held: bigint, amount: bigint, holder: string): void {
  if (held >= amount) return
  const text = `${holder} holds ${shownUsdc(held)}, less than ${shownUsdc(amount)}`
  throw new CommandError('insufficient-usdc', text)
}

export function shownUsdc(amount: bigint): string {
  return `${formatDecimal(amount, USDC_DECIMALS)} USDC`
}

const HOUR = 3_600
const DAY = 24 * HOUR

function shownTime(seconds: number): string {
  if (seconds % DAY === 0) return `${seconds / DAY} days`
  return seconds % HOUR === 0 ? `${seconds / HOUR} hours` : `${seconds} seconds`
}
