// What a platform's owner, its guardian and its funder change: compared with the chain first, and sent when the caller says so.
import * as z from 'zod/mini'
import { actionStruct, type ProposedAction } from '../chain/actionList.js'
import { authorityAbi } from '../chain/generated/authorityAbi.js'
import { corporateActionsAbi } from '../chain/generated/corporateActionsAbi.js'
import { equityTokenAbi } from '../chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../chain/generated/institutionRegistryAbi.js'
import { platformPoolAbi } from '../chain/generated/platformPoolAbi.js'
import { isSameProgram, programValue, type SignerProgram } from '../chain/signerProgram.js'
import { accountMoveSchema } from '../protocol/accountMove.js'
import { addressSchema, sameAddress, ZERO_ADDRESS } from '../protocol/address.js'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import { bytes32ToName, equitySymbolSchema, nameToBytes32 } from '../protocol/identifiers.js'
import { formatDecimal, USDC_DECIMALS } from '../protocol/units.js'
import { IMMUTABLES_ABI } from './abis.js'
import { createContract, type Mined } from './contract.js'
import { erc20Abi } from './erc20.js'
import { ClientError } from './errors.js'
import type { PlatformContracts } from './platform.js'
import type { Wallet } from './wallet.js'

/** A role that the owner can hand to another address. */
export type Role = 'owner' | 'guardian' | 'signer'

/** The terms of each kind of change, which bear the names of the contracts. */
interface Terms {
  listing: { readonly symbol: string; readonly isListed: boolean }
  /** Says whether a wallet has passed KYC. */
  kyc: { readonly wallet: Hex; readonly isVerified: boolean }
  freeze: { readonly symbol: string; readonly wallet: Hex; readonly isFrozen: boolean }
  /** `admin` is the founder at the first admission, and the admin later. */
  admission: { readonly orgId: Hex; readonly admin: Hex; readonly isAdmitted: boolean }
  /** The move of a lost wallet's portfolio, which can be carried out a week after its approval. */
  move: { readonly from: Hex; readonly to: Hex; readonly isApproved: boolean }
  /** The next holder of a role, or null to withdraw the scheduled one; `program` is of an attested signer, else null. */
  rotation: { readonly role: Role; readonly to: Hex | null; readonly program: SignerProgram | null }
  /** Stops openings and the enclave's authorizations. The guardian pauses, the owner lifts the pause. */
  pause: { readonly isPaused: boolean }
  /** Revokes an attested program, at once and finally. The guardian's alone. */
  revocation: { readonly measurement: Hex }
  /** Moves the pool's USDC to the broker's funding address, in base units; once more each time. */
  treasury: { readonly usdc: bigint }
  /** Lets the pool take USDC of the wallet, as `fund` needs. */
  allowance: { readonly usdc: bigint }
  /** Adds the wallet's USDC to the pool, without credit to anyone; once more each time. */
  fund: { readonly usdc: bigint }
  /** Proposes a corporate action, which the server enacts as soon as it is due. */
  action: { readonly action: ProposedAction }
  /** Withdraws a proposed action, by its digest. */
  actionWithdrawal: { readonly digest: Hex }
}
type Kind = keyof Terms

/** A change that an owner, a guardian or a funder can make. */
export type Change<K extends Kind = Kind> = { [P in K]: { readonly kind: P } & Terms[P] }[K]

/** A change, compared with the chain and not sent. */
export interface PlannedChange {
  /** Its effect, for people, such as `list AAPL`. */
  readonly text: string
  /** Whether the chain is so already. */
  readonly isInForce: boolean
  /**
   * Sends it as one transaction of the wallet, and waits until it is mined.
   * @throws ContractError such as `NotOwner`; ClientError `insufficient-funds`, `transaction-refused`, `transaction-pending`,
   *   `transaction-replaced`
   */
  send(): Promise<Mined>
}

/** The authority knows the roles, and refuses for every contract. */
const owned = (abi: readonly string[]) => [...abi, ...authorityAbi]
const ABIS = {
  registry: /* @__PURE__ */ owned(institutionRegistryAbi),
  token: /* @__PURE__ */ owned(equityTokenAbi),
  actions: /* @__PURE__ */ owned(corporateActionsAbi),
  pool: /* @__PURE__ */ owned(platformPoolAbi),
  authority: authorityAbi,
  usdc: erc20Abi,
}

/** The contracts as a wallet calls them. */
interface Scope {
  readonly wallet: Wallet
  readonly contracts: Pick<PlatformContracts, 'escrow' | 'registry' | 'token' | 'actions' | 'usdc'>
}

async function contractAt({ wallet, contracts }: Scope, name: keyof typeof ABIS) {
  const escrow = createContract({ wallet, address: contracts.escrow, abi: IMMUTABLES_ABI })
  const isKnown = name !== 'pool' && name !== 'authority'
  const address = isKnown ? contracts[name] : await escrow.read<Hex>(name, [], addressSchema)
  return { address, ...createContract({ wallet, address, abi: ABIS[name] }) }
}

/** Each role's number in the contract's enum, the view of its holder, and the method that hands it over. */
const ROLES = {
  owner: { id: 0, holder: 'owner', rotate: 'rotateOwner' },
  guardian: { id: 1, holder: 'guardian', rotate: 'rotateGuardian' },
  signer: { id: 2, holder: 'enclaveSigner', rotate: 'rotateSigner' },
} as const

const secondsValue = z.pipe(z.bigint(), z.transform(Number))
const nextSchema = z.object({ to: addressSchema, effectiveAt: secondsValue })

type Contract = Awaited<ReturnType<typeof contractAt>>
type Compared = readonly [isInForce: boolean, text: string, contract: Contract, method: string, ...unknown[]]

async function flag(
  scope: Scope,
  [name, ...subject]: readonly ['Listed' | 'Kyc' | 'Frozen', ...Hex[]],
  isOn: boolean,
  text: string,
): Promise<Compared> {
  const token = await contractAt(scope, 'token')
  const isSo = (await token.read(`is${name}`, subject, z.boolean())) === isOn
  return [isSo, text, token, `set${name}`, ...subject, isOn]
}

async function withdrawal(scope: Scope, role: Role): Promise<Compared> {
  const authority = await contractAt(scope, 'authority')
  const { effectiveAt } = await authority.read('pendingRotation', [ROLES[role].id], nextSchema)
  const holder = await authority.read<Hex>(ROLES[role].holder, [], addressSchema)
  const text = `withdraw the scheduled change of the ${role}: ${holder} stays`
  return [effectiveAt === 0, text, authority, 'withdrawRotation', ROLES[role].id]
}

const COMPARE: { readonly [K in Kind]: (scope: Scope, change: Change<K>) => Promise<Compared> } = {
  listing: async (scope, { symbol, isListed }) =>
    flag(scope, ['Listed', equityOf(symbol)], isListed, `${isListed ? 'list' : 'delist'} ${symbol}`),
  async kyc(scope, { wallet, isVerified }) {
    const text = isVerified ? `record that ${wallet} has passed KYC` : `withdraw the KYC of ${wallet}`
    return flag(scope, ['Kyc', wallet], isVerified, text)
  },
  async freeze(scope, { symbol, wallet, isFrozen }) {
    const text = `${isFrozen ? 'freeze' : 'release'} the ${symbol} of ${wallet}`
    return flag(scope, ['Frozen', equityOf(symbol), wallet], isFrozen, text)
  },
  async admission(scope, { orgId, admin, isAdmitted }) {
    const registry = await contractAt(scope, 'registry')
    const [wasAdmitted, current] = await Promise.all([
      registry.read('isAdmitted', [orgId], z.boolean()),
      registry.read<Hex>('adminOf', [orgId], addressSchema),
    ])
    const isSo = wasAdmitted === isAdmitted && sameAddress(current, admin)
    const text = `${isAdmitted ? 'admit' : 'suspend'} "${bytes32ToName(orgId) ?? orgId}" of ${admin}`
    return [isSo, text, registry, 'setAdmitted', orgId, admin, isAdmitted]
  },
  async move(scope, { from, to, isApproved }) {
    const registry = await contractAt(scope, 'registry')
    const found = await registry.read('moveOf', [from], accountMoveSchema)
    const its = found !== null && sameAddress(found.to, to) ? found : null
    if (!isApproved) return [its === null, `end the move of ${from} to ${to}`, registry, 'withdrawMove', from]
    const by = its === null ? 'nobody' : `"${bytes32ToName(its.orgId) ?? its.orgId}"`
    const text = `approve that ${by} moves the whole portfolio of ${from} to ${to}`
    return [its !== null && its.effectiveAt > 0, text, registry, 'approveMove', from, to]
  },
  async rotation(scope, { role, to, program }) {
    if (to === null) return withdrawal(scope, role)
    const authority = await contractAt(scope, 'authority')
    const { read } = authority
    const [holder, next, delay, ofHolder, ofNext] = await Promise.all([
      read<Hex>(ROLES[role].holder, [], addressSchema),
      read('pendingRotation', [ROLES[role].id], nextSchema),
      read('rotationDelay', [], secondsValue),
      read('signerProgram', [], programValue),
      read('pendingProgram', [], programValue),
    ])
    const isStaying = next.effectiveAt === 0
    const isOfProgram = role !== 'signer' || isSameProgram(isStaying ? ofHolder : ofNext, program)
    const isFirst = holder === ZERO_ADDRESS
    const when = isFirst || delay === 0 ? 'at once' : `in ${shownTime(delay)}`
    const of = program === null ? '' : ` of the program ${program.measurement}`
    const text = `make ${to} the ${isFirst ? 'first ' : ''}${role}${of} ${when}${isFirst ? '' : `, in place of ${holder}`}`
    const digests = [program?.measurement ?? ZERO_BYTES32, program?.config ?? ZERO_BYTES32]
    // Scheduling the same one again would begin its delay anew.
    const isSo = isOfProgram && sameAddress(isStaying ? holder : next.to, to)
    return [isSo, text, authority, ROLES[role].rotate, to, ...(role === 'signer' ? digests : [])]
  },
  async pause(scope, { isPaused }) {
    const authority = await contractAt(scope, 'authority')
    const isSo = (await authority.read('pausedUntil', [], secondsValue)) > 0 === isPaused
    if (!isPaused) return [isSo, 'lift the pause', authority, 'liftPause']
    const longest = shownTime(await authority.read('maxPause', [], secondsValue))
    return [isSo, `pause openings and the enclave's authorizations for ${longest}`, authority, 'pause']
  },
  async revocation(scope, { measurement }) {
    const authority = await contractAt(scope, 'authority')
    const isSo = await authority.read('isRevoked', [measurement], z.boolean())
    const text = `revoke the program of measurement ${measurement}, for good: no client trusts it any more`
    return [isSo, text, authority, 'revokeMeasurement', measurement]
  },
  async treasury(scope, { usdc }) {
    const [pool, asset] = [await contractAt(scope, 'pool'), await contractAt(scope, 'usdc')]
    const held = await asset.read('balanceOf', [pool.address], z.bigint())
    requireHeld(held, usdc, 'the pool')
    const funding = await pool.read<Hex>('brokerFunding', [], addressSchema)
    const text = `move ${shownUsdc(usdc)} of the pool's ${shownUsdc(held)} to the broker's funding address ${funding}`
    return [false, text, pool, 'transferTreasury', usdc]
  },
  async allowance(scope, { usdc }) {
    const [pool, asset] = [await contractAt(scope, 'pool'), await contractAt(scope, 'usdc')]
    const sender = await scope.wallet.account()
    const held = await asset.read('allowance', [sender, pool.address], z.bigint())
    // None at all withdraws it; any other is for one payment, which may be of less.
    const isSo = usdc === 0n ? held === 0n : held >= usdc
    return [isSo, `let the pool take ${shownUsdc(usdc)} of ${sender}`, asset, 'approve', pool.address, usdc]
  },
  async fund(scope, { usdc }) {
    const [pool, asset] = [await contractAt(scope, 'pool'), await contractAt(scope, 'usdc')]
    const sender = await scope.wallet.account()
    requireHeld(await asset.read('balanceOf', [sender], z.bigint()), usdc, sender)
    return [false, `add ${shownUsdc(usdc)} to the pool, without credit to anyone`, pool, 'fund', usdc]
  },
  async action(scope, { action }) {
    const [actions, struct] = [await contractAt(scope, 'actions'), actionStruct(action)]
    const digest = await actions.read<Hex>('digestOf', [struct], bytes32Schema)
    const isSo = (await actions.read('effectiveAt', [digest], z.bigint())) > 0n
    return [isSo, `propose the ${action.kind} of ${action.symbol}`, actions, 'propose', struct]
  },
  async actionWithdrawal(scope, { digest }) {
    const actions = await contractAt(scope, 'actions')
    const isSo = (await actions.read('effectiveAt', [digest], z.bigint())) === 0n
    return [isSo, `withdraw the proposed action ${digest}`, actions, 'withdraw', digest]
  },
}

export async function compare<K extends Kind>(scope: Scope, change: Change<K>): Promise<PlannedChange> {
  const [isInForce, text, contract, method, ...args] = await COMPARE[change.kind](scope, change)
  // Fails for what the contract cannot take, before anyone is shown the text.
  contract.call(method, args)
  return { text, isInForce, send: () => contract.send(method, args) }
}

/** The contract takes any name, but no client trades one that is no ticker. @throws ClientError `invalid-name` */
function equityOf(symbol: string): Hex {
  if (equitySymbolSchema.safeParse(symbol).success) return nameToBytes32(symbol)
  throw new ClientError(
    'invalid-name',
    'An equity has a ticker symbol as the broker writes it, such as AAPL.',
  )
}

function requireHeld(held: bigint, amount: bigint, holder: string): void {
  if (held >= amount) return
  const text = `${holder} holds ${shownUsdc(held)}, less than ${shownUsdc(amount)}`
  throw new ClientError('insufficient-usdc', text)
}

const shownUsdc = (amount: bigint) => `${formatDecimal(amount, USDC_DECIMALS)} USDC`

const HOUR = 3_600
const DAY = 24 * HOUR

function shownTime(seconds: number): string {
  if (seconds % DAY === 0) return `${seconds / DAY} days`
  return seconds % HOUR === 0 ? `${seconds / HOUR} hours` : `${seconds} seconds`
}
