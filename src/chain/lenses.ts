import type { BlockTag } from 'ethers'
import { z } from 'zod'
import type { ContractAddresses } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import type { ViewCaller } from './contractReader.js'
import { equitiesLensBytecode, poolUsdcLensBytecode, walletLensBytecode } from './generated/lenses.js'
import { createLens } from './lens.js'
import { addressValue, boolValue, bytes32Value, numberValue, uintValue } from './values.js'

/** What decides which screen a wallet sees. Zero bytes and the zero address mean "none". */
export interface WalletFacts {
  readonly orgId: Hex
  /** The institution that it has founded and that waits to be admitted. */
  readonly foundingId: Hex
  /** The institution that invited it last, and that one's admin. */
  readonly invitationId: Hex
  readonly invitedBy: Hex
  readonly kyc: boolean
  /** The admin of its institution. */
  readonly admin: Hex
  /** Whether the platform admits its institution. */
  readonly admitted: boolean
  /** Unix seconds at which it leaves its institution; 0 when it does not. */
  readonly leavingAt: number
  /** The version of its institution's rulebook. */
  readonly policyVersion: number
}

/** What an owner has to do with an equity. */
export interface EquityFacts {
  readonly frozen: boolean
  /** Share base units (9 decimals). */
  readonly balance: bigint
}

/** Reads of which one part depends on another, each as one call. All throw ChainUnavailableError, ChainAnswerError. */
export interface Lenses {
  wallet(wallet: Hex, block?: BlockTag): Promise<WalletFacts>
  /** USDC base units that the pool holds. */
  poolUsdc(block?: BlockTag): Promise<bigint>
  /** Of each of these symbols (`bytes32`), in their order. However many they are, they are a few calls of one request. */
  equities(owner: Hex, symbols: readonly Hex[], block?: BlockTag): Promise<readonly EquityFacts[]>
}

/** Symbols of one call: their answer stays below what a constructor may return. */
const MAX_SYMBOLS = 300

const walletSchema = z
  .tuple([
    bytes32Value,
    bytes32Value,
    bytes32Value,
    addressValue,
    boolValue,
    addressValue,
    boolValue,
    numberValue,
    numberValue,
  ])
  .transform(
    ([
      orgId,
      foundingId,
      invitationId,
      invitedBy,
      kyc,
      admin,
      admitted,
      leavingAt,
      policyVersion,
    ]): WalletFacts => ({
      orgId,
      foundingId,
      invitationId,
      invitedBy,
      kyc,
      admin,
      admitted,
      leavingAt,
      policyVersion,
    }),
  )
const balanceSchema = z.tuple([uintValue]).transform(([balance]) => balance)

const equitiesSchema = z
  .tuple([z.array(boolValue), z.array(uintValue)])
  .transform(([frozen, balances]) =>
    frozen.map((isFrozen, index): EquityFacts => ({ frozen: isFrozen, balance: balances[index] ?? 0n })),
  )

export function createLenses(caller: ViewCaller, contracts: ContractAddresses): Lenses {
  const { institutionRegistry, equityToken, confidentialLedger, orderEscrow, platformPool } = contracts
  const readWallet = createLens(caller, {
    bytecode: walletLensBytecode,
    takes: ['address', 'address', 'address', 'address'],
    returns: ['bytes32', 'bytes32', 'bytes32', 'address', 'bool', 'address', 'bool', 'uint64', 'uint64'],
    schema: walletSchema,
  })
  const readPoolUsdc = createLens(caller, {
    bytecode: poolUsdcLensBytecode,
    takes: ['address', 'address'],
    returns: ['uint256'],
    schema: balanceSchema,
  })
  const readEquities = createLens(caller, {
    bytecode: equitiesLensBytecode,
    takes: ['address', 'address', 'bytes32[]'],
    returns: ['bool[]', 'uint256[]'],
    schema: equitiesSchema,
  })
  return {
    async equities(owner, symbols, block = 'latest') {
      const parts: Promise<EquityFacts[]>[] = []
      for (let from = 0; from < symbols.length; from += MAX_SYMBOLS) {
        parts.push(readEquities([equityToken, owner, symbols.slice(from, from + MAX_SYMBOLS)], block))
      }
      return (await Promise.all(parts)).flat()
    },
    wallet: (wallet, block = 'latest') =>
      readWallet([institutionRegistry, equityToken, confidentialLedger, wallet], block),
    poolUsdc: (block = 'latest') => readPoolUsdc([orderEscrow, platformPool], block),
  }
}
