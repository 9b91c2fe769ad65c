import type { BlockTag } from 'ethers'
import { z } from 'zod/mini'
import { type AccountMove, accountMoveSchema } from '../protocol/accountMove.js'
import { type ContractAddresses, contractsSchema, type OrderState } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { listedActionSchema, readActions } from './actionList.js'
import { interfaces } from './interfaces.js'
import { programValue } from './signerProgram.js'
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

export const CONTRACT_NAMES = z.keyof(contractsSchema).options

/** The environment variable of each contract's address: the deployment prints them, server and enclave read them. */
export const ADDRESS_VARIABLES = {
  institutionRegistry: 'INSTITUTION_REGISTRY_ADDRESS',
  orderEscrow: 'ORDER_ESCROW_ADDRESS',
  confidentialLedger: 'CONFIDENTIAL_LEDGER_ADDRESS',
  equityToken: 'EQUITY_TOKEN_ADDRESS',
  platformPool: 'PLATFORM_POOL_ADDRESS',
} satisfies Record<keyof ContractAddresses, string>

/** Views of `InstitutionRegistry`. Zero bytes and the zero address mean "none". */
function createInstitutionRegistry(caller: ViewCaller, address: Hex) {
  const { read } = createContractReader(caller, address, interfaces.institutionRegistry)
  return {
    address,
    adminOf: (orgId: Hex, block?: BlockTag) => read('adminOf', [orgId], addressValue, block),
    orgOf: (wallet: Hex, block?: BlockTag) => read('orgOf', [wallet], bytes32Value, block),
    walletCount: (orgId: Hex, block?: BlockTag) => read('walletCount', [orgId], numberValue, block),
    isAdmitted: (orgId: Hex, block?: BlockTag) => read('isAdmitted', [orgId], boolValue, block),
    /** Unix seconds; 0 when the wallet is not leaving. */
    leavingAt: (wallet: Hex, block?: BlockTag) => read('leavingAt', [wallet], numberValue, block),
    /** The move of a lost wallet's portfolio; null when none is proposed. */
    moveOf: (from: Hex, block?: BlockTag): Promise<AccountMove | null> =>
      read('moveOf', [from], accountMoveSchema, block),
  }
}

/** The contract's enum, in its order. */
const STATES: readonly OrderState[] = ['NONE', 'OPEN', 'SETTLED', 'REFUNDED']

const orderValue = z.object({
  account: addressValue,
  /** USDC base units; 0 for a request, and for a deposit of shares. */
  amount: uintValue,
  /** Unix seconds. */
  deadline: numberValue,
  commit: bytes32Value,
  /** The account's institution when it opened the order. */
  orgId: bytes32Value,
  state: z.pipe(
    numberValue,
    z.transform((input, { issues }): OrderState => {
      const state = STATES[input]
      if (state) return state
      issues.push({ code: 'custom', input, message: 'unknown order state' })
      return z.NEVER
    }),
  ),
  /** The symbol of a deposit of shares, else zero. */
  symbol: bytes32Value,
  /** Share base units of that deposit. */
  shares: uintValue,
})
/** An order on chain; `state` NONE when there is none. */
export type EscrowedOrder = z.output<typeof orderValue>

/** Views of `OrderEscrow`. */
export function createOrderEscrow(caller: ViewCaller, address: Hex) {
  const { read } = createContractReader(caller, address, interfaces.orderEscrow)
  return {
    address,
    orders: (orderId: Hex, block?: BlockTag) => read('orders', [orderId], orderValue, block),
    /** How many orders are open. */
    openOrders: (block?: BlockTag) => read('openOrders', [], numberValue, block),
    openOrdersBy: (account: Hex, block?: BlockTag) => read('openOrdersBy', [account], numberValue, block),
    openOrdersOf: (orgId: Hex, block?: BlockTag) => read('openOrdersOf', [orgId], numberValue, block),
    /** USDC base units of all open orders. */
    escrowed: (block?: BlockTag) => read('escrowed', [], uintValue, block),
    /** The amount of an asset (`USDC` or a symbol, as bytes32) that an account could not receive, in base units. */
    claims: (account: Hex, asset: Hex, block?: BlockTag) =>
      read('claims', [account, asset], uintValue, block),
    /** The sum of all claims in an asset. */
    claimed: (asset: Hex, block?: BlockTag) => read('claimed', [asset], uintValue, block),
    /** The account whose order has these first 16 bytes in its id; the zero address when there is none. */
    takenBy: (prefix: Hex, block?: BlockTag) => read('takenBy', [prefix], addressValue, block),
    /** Unix seconds of the block that the contract was created in. */
    deployedAt: (block?: BlockTag) => read('deployedAt', [], numberValue, block),
    authority: (block?: BlockTag) => read('authority', [], addressValue, block),
    usdc: (block?: BlockTag) => read('usdc', [], addressValue, block),
    usedDigest: (digest: Hex, block?: BlockTag) => read('usedDigest', [digest], boolValue, block),
  }
}

export type OrderEscrow = ReturnType<typeof createOrderEscrow>

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
export function createConfidentialLedger(caller: ViewCaller, address: Hex) {
  const { read } = createContractReader(caller, address, interfaces.confidentialLedger)
  return {
    address,
    enclaveBlob: (accountId: Hex, block?: BlockTag) => read('enclaveBlob', [accountId], bytesValue, block),
    portfolioVersion: (accountId: Hex, block?: BlockTag) =>
      read('portfolioVersion', [accountId], uintValue, block),
    /** The running hash of all writes of the portfolio; zero before the first. */
    portfolioHash: (accountId: Hex, block?: BlockTag) =>
      read('portfolioHash', [accountId], bytes32Value, block),
    policyBlob: (orgId: Hex, block?: BlockTag) => read('policyBlob', [orgId], bytesValue, block),
    /** The parts so far of the next rulebook. */
    pendingPolicyBlob: (orgId: Hex, block?: BlockTag) =>
      read('pendingPolicyBlob', [orgId], bytesValue, block),
    /** The running hash of the parts in force; zero before the first rulebook. */
    policyDigest: (orgId: Hex, block?: BlockTag) => read('policyDigest', [orgId], bytes32Value, block),
    policyVersion: (orgId: Hex, block?: BlockTag) => read('policyVersion', [orgId], numberValue, block),
    usedDigest: (digest: Hex, block?: BlockTag) => read('usedDigest', [digest], boolValue, block),
  }
}

/**
 * Views of `EquityToken`. A symbol is its `bytes32`; quantities are share base units (9 decimals), 0 where no shares exist.
 */
function createEquityToken(caller: ViewCaller, address: Hex) {
  const { read } = createContractReader(caller, address, interfaces.equityToken)
  return {
    address,
    /** The address of the list of corporate actions. */
    actions: (block?: BlockTag) => read('actions', [], addressValue, block),
    isKyc: (wallet: Hex, block?: BlockTag) => read('isKyc', [wallet], boolValue, block),
    isListed: (symbol: Hex, block?: BlockTag) => read('isListed', [symbol], boolValue, block),
    isFrozen: (symbol: Hex, wallet: Hex, block?: BlockTag) =>
      read('isFrozen', [symbol, wallet], boolValue, block),
    listedSymbols: (block?: BlockTag): Promise<Hex[]> =>
      read('listedSymbols', [], z.array(bytes32Value), block),
    /** Shares in existence, which the enclave keeps equal to what the broker holds and what was withdrawn. */
    totalSupply: (symbol: Hex, block?: BlockTag) => read('totalSupply', [symbol], uintValue, block),
    balanceOf: (owner: Hex, symbol: Hex, block?: BlockTag) =>
      read('balanceOf', [owner, symbol], uintValue, block),
  }
}

export type EquityToken = ReturnType<typeof createEquityToken>

/** `effectiveAt` of an action that is in the list. */
export const LISTED = 2n ** 64n - 1n

/** Views of `CorporateActions`, which `EquityToken` names. */
export function createCorporateActions(caller: ViewCaller, address: Hex) {
  const { read } = createContractReader(caller, address, interfaces.corporateActions)
  return {
    address,
    /** The running hash of the list; zero while it is empty. */
    listHash: (block?: BlockTag) => read('listHash', [], bytes32Value, block),
    /** Unix seconds from which an action can be enacted that was proposed; 0 if it is not, 2^64 − 1 once it is in the list. */
    effectiveAt: (digest: Hex, block?: BlockTag) => read('effectiveAt', [digest], uintValue, block),
    /** @param action the fields of its struct, in their order */
    digestOf: (action: readonly unknown[]) => read('digestOf', [action], bytes32Value),
    /** The whole list. */
    all: (block?: BlockTag) =>
      readActions({
        count: () => read('count', [], numberValue, block),
        list: (from, to) => read('list', [from, to], z.array(listedActionSchema), block),
      }),
  }
}

/** Views of `PlatformPool`. */
function createPlatformPool(caller: ViewCaller, address: Hex) {
  const { read } = createContractReader(caller, address, interfaces.platformPool)
  return {
    address,
    /** Number that the symbol's next mint or burn must have. */
    nextBatch: (symbol: Hex, block?: BlockTag) => read('nextBatch', [symbol], uintValue, block),
    /** Unix milliseconds: the symbol's fills until then are in its batches. */
    countedUntil: (symbol: Hex, block?: BlockTag) => read('countedUntil', [symbol], uintValue, block),
    usedDigest: (digest: Hex, block?: BlockTag) => read('usedDigest', [digest], boolValue, block),
  }
}

/** The contract's enum, in its order. */
export const ROLES = ['owner', 'guardian', 'signer'] as const
/** The roles that the owner can hand to another address. */
export type AuthorityRole = (typeof ROLES)[number]

const pendingValue = z.pipe(
  // The time is in Unix seconds.
  z.object({ to: addressValue, effectiveAt: numberValue }),
  z.transform((pending) => (pending.effectiveAt === 0 ? null : pending)),
)
/** The next holder of a role, and the time of the change. */
export type PendingRotation = NonNullable<z.output<typeof pendingValue>>

/** Views of `Authority`, which each of the five contracts names. */
export function createAuthority(caller: ViewCaller, address: Hex) {
  const { read } = createContractReader(caller, address, interfaces.authority)
  return {
    address,
    owner: (block?: BlockTag) => read('owner', [], addressValue, block),
    guardian: (block?: BlockTag) => read('guardian', [], addressValue, block),
    enclaveSigner: (block?: BlockTag) => read('enclaveSigner', [], addressValue, block),
    /** The program of the signer in force, and of the next one; null where its key is in a file. */
    signerProgram: (block?: BlockTag) => read('signerProgram', [], programValue, block),
    pendingProgram: (block?: BlockTag) => read('pendingProgram', [], programValue, block),
    /** Null when the role stays where it is. */
    pendingRotation: (role: AuthorityRole, block?: BlockTag): Promise<PendingRotation | null> =>
      read('pendingRotation', [ROLES.indexOf(role)], pendingValue, block),
    /** Unix seconds at which the pause ends; 0 when the platform is not paused. */
    pausedUntil: (block?: BlockTag) => read('pausedUntil', [], numberValue, block),
    /** Whether the guardian has revoked the measurement of a program. */
    isRevoked: (measurement: Hex, block?: BlockTag) => read('isRevoked', [measurement], boolValue, block),
  }
}

export type Authority = ReturnType<typeof createAuthority>

/** Views of USDC; amounts in base units (6 decimals). */
export function createUsdc(caller: ViewCaller, address: Hex) {
  const { read } = createContractReader(caller, address, interfaces.usdc)
  return {
    address,
    balanceOf: (owner: Hex, block?: BlockTag) => read('balanceOf', [owner], uintValue, block),
    totalSupply: (block?: BlockTag) => read('totalSupply', [], uintValue, block),
  }
}

export type Usdc = ReturnType<typeof createUsdc>
