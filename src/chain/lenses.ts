import type { BlockTag } from 'ethers'
import { z } from 'zod'
import type { ContractAddresses } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import type { ViewCaller } from './contractReader.js'
import { poolUsdcLensBytecode, walletLensBytecode } from './generated/lenses.js'
import { createLens } from './lens.js'
import { addressValue, boolValue, bytes32Value, numberValue, uintValue } from './values.js'

/** What decides which screen a wallet sees. Zero bytes and the zero address mean "none". */
export interface WalletFacts {
  readonly orgId: Hex
  /** The institution that invited it last. */
  readonly invitation: Hex
  readonly kyc: boolean
  /** The admin of its institution. */
  readonly admin: Hex
  /** The version of its institution's rulebook. */
  readonly policyVersion: number
}

/** Reads of which one part depends on another, each as one call. All throw ChainUnavailableError, ChainAnswerError. */
export interface Lenses {
  wallet(wallet: Hex, block?: BlockTag): Promise<WalletFacts>
  /** USDC base units that the pool holds. */
  poolUsdc(block?: BlockTag): Promise<bigint>
}

const walletSchema = z.tuple([bytes32Value, bytes32Value, boolValue, addressValue, numberValue]).transform(
  ([orgId, invitation, kyc, admin, policyVersion]): WalletFacts => ({
    orgId,
    invitation,
    kyc,
    admin,
    policyVersion,
  }),
)
const balanceSchema = z.tuple([uintValue]).transform(([balance]) => balance)

export function createLenses(caller: ViewCaller, contracts: ContractAddresses): Lenses {
  const { institutionRegistry, equityToken, confidentialLedger, orderEscrow, platformPool } = contracts
  const readWallet = createLens(caller, {
    bytecode: walletLensBytecode,
    takes: ['address', 'address', 'address', 'address'],
    returns: ['bytes32', 'bytes32', 'bool', 'address', 'uint64'],
    schema: walletSchema,
  })
  const readPoolUsdc = createLens(caller, {
    bytecode: poolUsdcLensBytecode,
    takes: ['address', 'address'],
    returns: ['uint256'],
    schema: balanceSchema,
  })
  return {
    wallet: (wallet, block = 'latest') =>
      readWallet([institutionRegistry, equityToken, confidentialLedger, wallet], block),
    poolUsdc: (block = 'latest') => readPoolUsdc([orderEscrow, platformPool], block),
  }
}
