import { AbiCoder, type BlockTag, concat } from 'ethers'
import * as z from 'zod/mini'
import type { ContractAddresses } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { ChainAnswerError, ChainUnavailableError } from './errors.js'
import { equitiesLensBytecode, poolUsdcLensBytecode, walletLensBytecode } from './generated/lenses.js'
import { addressValue, boolValue, bytes32Value, numberValue, uintValue, type ViewCaller } from './views.js'

/** The facts that decide which screen a wallet sees. Zero bytes and the zero address mean "none". */
const walletSchema = z.object({
  orgId: bytes32Value,
  /** The institution that it has founded and that waits to be admitted. */
  foundingId: bytes32Value,
  /** The institution that invited it last, and that one's admin. */
  invitationId: bytes32Value,
  invitedBy: addressValue,
  kyc: boolValue,
  /** The admin of its institution. */
  admin: addressValue,
  /** Whether the platform admits its institution. */
  admitted: boolValue,
  /** Unix seconds at which it leaves its institution; 0 when it does not. */
  leavingAt: numberValue,
  /** The version of its institution's rulebook. */
  policyVersion: numberValue,
})
export type WalletFacts = z.output<typeof walletSchema>

/** Symbols of one call: their answer stays below what a constructor may return. */
const MAX_SYMBOLS = 300

const balanceSchema = z.pipe(
  z.object({ balance: uintValue }),
  z.transform(({ balance }) => balance),
)

/** Balances are share base units (9 decimals). */
const equitiesSchema = z.pipe(
  z.object({ frozen: z.array(boolValue), balances: z.array(uintValue) }),
  z.transform(({ frozen, balances }) =>
    frozen.map((isFrozen, index) => ({ frozen: isFrozen, balance: balances[index] ?? 0n })),
  ),
)
/** An owner's part in an equity. */
export type EquityFacts = Readonly<z.output<typeof equitiesSchema>[number]>

/** Reads of which one part depends on another, each as one call. All throw ChainUnavailableError, ChainAnswerError. */
export type Lenses = ReturnType<typeof createLenses>

export function createLenses(caller: ViewCaller, contracts: ContractAddresses) {
  const { institutionRegistry, equityToken, confidentialLedger, orderEscrow, platformPool } = contracts
  const readWallet = createLens(caller, {
    bytecode: walletLensBytecode,
    takes: ['address', 'address', 'address', 'address'],
    returns: [
      'bytes32 orgId',
      'bytes32 foundingId',
      'bytes32 invitationId',
      'address invitedBy',
      'bool kyc',
      'address admin',
      'bool admitted',
      'uint64 leavingAt',
      'uint64 policyVersion',
    ],
    schema: walletSchema,
  })
  const readPoolUsdc = createLens(caller, {
    bytecode: poolUsdcLensBytecode,
    takes: ['address', 'address'],
    returns: ['uint256 balance'],
    schema: balanceSchema,
  })
  const readEquities = createLens(caller, {
    bytecode: equitiesLensBytecode,
    takes: ['address', 'address', 'bytes32[]'],
    returns: ['bool[] frozen', 'uint256[] balances'],
    schema: equitiesSchema,
  })
  return {
    /** The facts about each of these symbols (`bytes32`), in their order: a few calls of one request, for any number of symbols. */
    async equities(owner: Hex, symbols: readonly Hex[], block: BlockTag = 'latest'): Promise<EquityFacts[]> {
      const parts: Promise<EquityFacts[]>[] = []
      for (let from = 0; from < symbols.length; from += MAX_SYMBOLS) {
        parts.push(readEquities([equityToken, owner, symbols.slice(from, from + MAX_SYMBOLS)], block))
      }
      return (await Promise.all(parts)).flat()
    },
    wallet: (wallet: Hex, block: BlockTag = 'latest') =>
      readWallet([institutionRegistry, equityToken, confidentialLedger, wallet], block),
    /** USDC base units that the pool holds. */
    poolUsdc: (block: BlockTag = 'latest') => readPoolUsdc([orderEscrow, platformPool], block),
  }
}

// Deployless calls have the code of a contract that is never deployed: its constructor returns the answer, all of one block and in one
// request, like the validator of https://eips.ethereum.org/EIPS/eip-6492. See contracts/lens.

/** Runs a lens at a block. The function throws ChainUnavailableError, ChainAnswerError. */
export function createLens<T>(
  caller: ViewCaller,
  {
    bytecode,
    takes,
    returns,
    schema,
  }: {
    readonly bytecode: string
    /** ABI types of the constructor's arguments, and types and names of its returned values. */
    readonly takes: readonly string[]
    readonly returns: readonly string[]
    /** The schema of the object of returned values. */
    readonly schema: z.core.$ZodType<T>
  },
) {
  const coder = AbiCoder.defaultAbiCoder()
  return async (values: readonly unknown[], block: BlockTag): Promise<T> => {
    const data = concat([bytecode, coder.encode(takes, values)])
    try {
      const answer = await caller.call({ data, blockTag: block })
      return z.parse(schema, coder.decode(returns, answer).toObject())
    } catch (error) {
      if (error instanceof ChainUnavailableError || error instanceof ChainAnswerError) throw error
      throw new ChainAnswerError('no usable answer to a lens', { cause: error })
    }
  }
}
