import type { BlockTag } from 'ethers'
import { z } from 'zod'
import type { ContractAddresses, OrderState } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { interfaces } from './interfaces.js'
import {
  addressValue,
  boolValue,
  bytes32Value,
  bytesValue,
  createContractReader,
  numberValue,
  uintValue,
  type ViewCaller,
} from './views.js'

/** Typed views of the five contracts. Calls made together travel as one HTTP request. */
export type Contracts = ReturnType<typeof createContracts>

export function createContracts(caller: ViewCaller, addresses: ContractAddresses) {
  return {
    registry: createInstitutionRegistry(caller, addresses.institutionRegistry),
    escrow: createOrderEscrow(caller, addresses.orderEscrow),
    ledger: createConfidentialLedger(caller, addresses.confidentialLedger),
    token: createEquityToken(caller, addresses.equityToken),
    pool: createPlatformPool(caller, addresses.platformPool),
  }
}

/** The environment variable of each contract's address: the deployment prints them, server and enclave read them. */
export const ADDRESS_VARIABLES = {
  institutionRegistry: 'INSTITUTION_REGISTRY_ADDRESS',
  orderEscrow: 'ORDER_ESCROW_ADDRESS',
  confidentialLedger: 'CONFIDENTIAL_LEDGER_ADDRESS',
  equityToken: 'EQUITY_TOKEN_ADDRESS',
  platformPool: 'PLATFORM_POOL_ADDRESS',
} satisfies Record<keyof ContractAddresses, string>

/** Views of `InstitutionRegistry`. Zero bytes and the zero address mean "none". */
interface InstitutionRegistry {
  readonly address: Hex
  adminOf(orgId: Hex, block?: BlockTag): Promise<Hex>
  orgOf(wallet: Hex, block?: BlockTag): Promise<Hex>
  walletCount(orgId: Hex, block?: BlockTag): Promise<number>
  isAdmitted(orgId: Hex, block?: BlockTag): Promise<boolean>
  /** Unix seconds; 0 when the wallet is not leaving. */
  leavingAt(wallet: Hex, block?: BlockTag): Promise<number>
}

function createInstitutionRegistry(caller: ViewCaller, address: Hex): InstitutionRegistry {
  const { read } = createContractReader(caller, address, interfaces.institutionRegistry)
  return {
    address,
    adminOf: (orgId, block) => read('adminOf', [orgId], addressValue, block),
    orgOf: (wallet, block) => read('orgOf', [wallet], bytes32Value, block),
    walletCount: (orgId, block) => read('walletCount', [orgId], numberValue, block),
    isAdmitted: (orgId, block) => read('isAdmitted', [orgId], boolValue, block),
    leavingAt: (wallet, block) => read('leavingAt', [wallet], numberValue, block),
  }
}

/** The contract's enum, in its order. */
const STATES: readonly OrderState[] = ['NONE', 'OPEN', 'SETTLED', 'REFUNDED']

/** An order on chain; `state` NONE when there is none. */
export interface EscrowedOrder {
  account: Hex
  /** USDC base units; 0 for a request, and for a deposit of shares. */
  amount: bigint
  /** Unix seconds. */
  deadline: number
  commit: Hex
  /** The account's institution when it opened the order. */
  orgId: Hex
  state: OrderState
  /** The symbol of a deposit of shares, else zero. */
  symbol: Hex
  /** Share base units of that deposit. */
  shares: bigint
}

const orderValue: z.ZodType<EscrowedOrder> = z.object({
  account: addressValue,
  amount: uintValue,
  deadline: numberValue,
  commit: bytes32Value,
  orgId: bytes32Value,
  state: numberValue.transform((index, context): OrderState => {
    const state = STATES[index]
    if (state) return state
    context.addIssue({ code: 'custom', message: 'unknown order state' })
    return z.NEVER
  }),
  symbol: bytes32Value,
  shares: uintValue,
})

/** Views of `OrderEscrow`. */
export interface OrderEscrow {
  readonly address: Hex
  orders(orderId: Hex, block?: BlockTag): Promise<EscrowedOrder>
  /** How many orders are open. */
  openOrders(block?: BlockTag): Promise<number>
  openOrdersOf(orgId: Hex, block?: BlockTag): Promise<number>
  /** USDC base units of all open orders. */
  escrowed(block?: BlockTag): Promise<bigint>
  /** The amount of an asset (`USDC` or a symbol, as bytes32) that an account could not receive, in base units. */
  claims(account: Hex, asset: Hex, block?: BlockTag): Promise<bigint>
  /** The sum of all claims in an asset. */
  claimed(asset: Hex, block?: BlockTag): Promise<bigint>
  /** The account whose order has these first 16 bytes in its id; the zero address when there is none. */
  takenBy(prefix: Hex, block?: BlockTag): Promise<Hex>
  /** Unix seconds of the block that the contract was created in. */
  deployedAt(block?: BlockTag): Promise<number>
  authority(block?: BlockTag): Promise<Hex>
  usdc(block?: BlockTag): Promise<Hex>
  usedDigest(digest: Hex, block?: BlockTag): Promise<boolean>
}

export function createOrderEscrow(caller: ViewCaller, address: Hex): OrderEscrow {
  const { read } = createContractReader(caller, address, interfaces.orderEscrow)
  return {
    address,
    orders: (orderId, block) => read('orders', [orderId], orderValue, block),
    openOrders: (block) => read('openOrders', [], numberValue, block),
    openOrdersOf: (orgId, block) => read('openOrdersOf', [orgId], numberValue, block),
    escrowed: (block) => read('escrowed', [], uintValue, block),
    claims: (account, asset, block) => read('claims', [account, asset], uintValue, block),
    claimed: (asset, block) => read('claimed', [asset], uintValue, block),
    takenBy: (prefix, block) => read('takenBy', [prefix], addressValue, block),
    deployedAt: (block) => read('deployedAt', [], numberValue, block),
    authority: (block) => read('authority', [], addressValue, block),
    usdc: (block) => read('usdc', [], addressValue, block),
    usedDigest: (digest, block) => read('usedDigest', [digest], boolValue, block),
  }
}

/** The name and version of USDC's EIP-712 domain. @throws ChainUnavailableError, ChainAnswerError */
export async function usdcDomain(
  caller: ViewCaller,
  address: Hex,
): Promise<{ address: Hex; name: string; version: string }> {
  const { read } = createContractReader(caller, address, interfaces.usdc)
  const [name, version] = await Promise.all([read('name', [], z.string()), read('version', [], z.string())])
  return { address, name, version }
}

/** Views of `ConfidentialLedger`. A blob that was never written is `0x`, its version 0. */
interface ConfidentialLedger {
  readonly address: Hex
  enclaveBlob(accountId: Hex, block?: BlockTag): Promise<Hex>
  portfolioVersion(accountId: Hex, block?: BlockTag): Promise<bigint>
  /** The running hash of all writes of the portfolio; zero before the first. */
  portfolioHash(accountId: Hex, block?: BlockTag): Promise<Hex>
  policyBlob(orgId: Hex, block?: BlockTag): Promise<Hex>
  policyVersion(orgId: Hex, block?: BlockTag): Promise<number>
  usedDigest(digest: Hex, block?: BlockTag): Promise<boolean>
}

export function createConfidentialLedger(caller: ViewCaller, address: Hex): ConfidentialLedger {
  const { read } = createContractReader(caller, address, interfaces.confidentialLedger)
  return {
    address,
    enclaveBlob: (accountId, block) => read('enclaveBlob', [accountId], bytesValue, block),
    portfolioVersion: (accountId, block) => read('portfolioVersion', [accountId], uintValue, block),
    portfolioHash: (accountId, block) => read('portfolioHash', [accountId], bytes32Value, block),
    policyBlob: (orgId, block) => read('policyBlob', [orgId], bytesValue, block),
    policyVersion: (orgId, block) => read('policyVersion', [orgId], numberValue, block),
    usedDigest: (digest, block) => read('usedDigest', [digest], boolValue, block),
  }
}

/** Views of `EquityToken`. A symbol is its `bytes32`; quantities are share base units (9 decimals), 0 where no shares exist. */
export interface EquityToken {
  readonly address: Hex
  isKyc(wallet: Hex, block?: BlockTag): Promise<boolean>
  isListed(symbol: Hex, block?: BlockTag): Promise<boolean>
  isFrozen(symbol: Hex, wallet: Hex, block?: BlockTag): Promise<boolean>
  listedSymbols(block?: BlockTag): Promise<Hex[]>
  /** Shares in existence, which the enclave keeps equal to what the broker holds and what was withdrawn. */
  totalSupply(symbol: Hex, block?: BlockTag): Promise<bigint>
  balanceOf(owner: Hex, symbol: Hex, block?: BlockTag): Promise<bigint>
}

function createEquityToken(caller: ViewCaller, address: Hex): EquityToken {
  const { read } = createContractReader(caller, address, interfaces.equityToken)
  return {
    address,
    isKyc: (wallet, block) => read('isKyc', [wallet], boolValue, block),
    isListed: (symbol, block) => read('isListed', [symbol], boolValue, block),
    isFrozen: (symbol, wallet, block) => read('isFrozen', [symbol, wallet], boolValue, block),
    listedSymbols: (block) => read('listedSymbols', [], z.array(bytes32Value), block),
    totalSupply: (symbol, block) => read('totalSupply', [symbol], uintValue, block),
    balanceOf: (owner, symbol, block) => read('balanceOf', [owner, symbol], uintValue, block),
  }
}

/** Views of `PlatformPool`. */
interface PlatformPool {
  readonly address: Hex
  /** Number that the symbol's next mint or burn must carry. */
  nextBatch(symbol: Hex, block?: BlockTag): Promise<bigint>
  /** Unix milliseconds: the symbol's fills until then are in its batches. */
  countedUntil(symbol: Hex, block?: BlockTag): Promise<bigint>
  /** The only address that the treasury can go to. */
  brokerFunding(block?: BlockTag): Promise<Hex>
  usedDigest(digest: Hex, block?: BlockTag): Promise<boolean>
}

function createPlatformPool(caller: ViewCaller, address: Hex): PlatformPool {
  const { read } = createContractReader(caller, address, interfaces.platformPool)
  return {
    address,
    nextBatch: (symbol, block) => read('nextBatch', [symbol], uintValue, block),
    countedUntil: (symbol, block) => read('countedUntil', [symbol], uintValue, block),
    brokerFunding: (block) => read('brokerFunding', [], addressValue, block),
    usedDigest: (digest, block) => read('usedDigest', [digest], boolValue, block),
  }
}

/** The contract's enum, in its order. */
export const ROLES = ['owner', 'guardian', 'signer'] as const
/** The roles that the owner can hand to another address. */
export type AuthorityRole = (typeof ROLES)[number]

/** The next holder of a role, and the time of the change. */
export interface PendingRotation {
  readonly to: Hex
  /** Unix seconds. */
  readonly effectiveAt: number
}

const pendingValue = z
  .object({ to: addressValue, effectiveAt: numberValue })
  .transform((pending): PendingRotation | null => (pending.effectiveAt === 0 ? null : pending))

/** Views of `Authority`, which each of the five contracts names. */
export interface Authority {
  readonly address: Hex
  owner(block?: BlockTag): Promise<Hex>
  guardian(block?: BlockTag): Promise<Hex>
  /** Seconds from the owner's call until a rotation takes effect. */
  rotationDelay(block?: BlockTag): Promise<number>
  /** Seconds that a pause lasts. */
  maxPause(block?: BlockTag): Promise<number>
  enclaveSigner(block?: BlockTag): Promise<Hex>
  /** Null when the role stays where it is. */
  pendingRotation(role: AuthorityRole, block?: BlockTag): Promise<PendingRotation | null>
  /** Unix seconds at which the pause ends; 0 when the platform is not paused. */
  pausedUntil(block?: BlockTag): Promise<number>
}

export function createAuthority(caller: ViewCaller, address: Hex): Authority {
  const { read } = createContractReader(caller, address, interfaces.authority)
  return {
    address,
    owner: (block) => read('owner', [], addressValue, block),
    guardian: (block) => read('guardian', [], addressValue, block),
    rotationDelay: (block) => read('rotationDelay', [], numberValue, block),
    maxPause: (block) => read('maxPause', [], numberValue, block),
    enclaveSigner: (block) => read('enclaveSigner', [], addressValue, block),
    pendingRotation: (role, block) => read('pendingRotation', [ROLES.indexOf(role)], pendingValue, block),
    pausedUntil: (block) => read('pausedUntil', [], numberValue, block),
  }
}

/** Views of USDC; amounts in base units (6 decimals). */
export interface Usdc {
  readonly address: Hex
  balanceOf(owner: Hex, block?: BlockTag): Promise<bigint>
  allowance(owner: Hex, spender: Hex, block?: BlockTag): Promise<bigint>
  totalSupply(block?: BlockTag): Promise<bigint>
}

export function createUsdc(caller: ViewCaller, address: Hex): Usdc {
  const { read } = createContractReader(caller, address, interfaces.usdc)
  return {
    address,
    balanceOf: (owner, block) => read('balanceOf', [owner], uintValue, block),
    allowance: (owner, spender, block) => read('allowance', [owner, spender], uintValue, block),
    totalSupply: (block) => read('totalSupply', [], uintValue, block),
  }
}
