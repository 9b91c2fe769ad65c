// Reads an account's events from the chain, with the portfolios in the calldata of their transactions.
import * as z from 'zod/mini'
import {
  forwardedAuthorizations,
  isReclaim,
  PORTFOLIO_UPDATED,
  type PortfolioWrite,
  portfolioWrites,
} from '../../chain/calledAuthorization.js'
import { blockSchema, resultOf } from '../../chain/jsonRpc.js'
import { type BlockRange, type ChainLog, type LogPiece, numberIn, wordAt } from '../../chain/logReader.js'
import { addressSchema, sameAddress } from '../../protocol/address.js'
import { authorizationDigest } from '../../protocol/authorization.js'
import { authorizationTargets } from '../../protocol/authorizationTypes.js'
import { bytes32Schema, type Hex, hexBetween } from '../../protocol/hex.js'
import { accountIdOf, bytes32ToName } from '../../protocol/identifiers.js'
import type { PrimaryType } from '../../protocol/primaryTypes.js'
import { DIGEST_ABI } from '../abis.js'
import { openVersion } from '../carrier.js'
import { createContract } from '../contract.js'
import { topicOf, topicOfAddress } from '../contractEvents.js'
import { ClientError } from '../errors.js'
import { ESCROW_ABI } from '../escrowAbi.js'
import type { Keyring } from '../keyring.js'
import { createPieces } from '../logList.js'
import type { Node } from '../node.js'
import type { PlatformContracts } from '../platform.js'
import type { Wallet } from '../wallet.js'
import type { Ending, Write } from './derive.js'
import type { Deposit } from './entries.js'

/** One event of the account, in the order of the chain. */
export type Fact = { readonly log: ChainLog; readonly timestamp: number } & (
  | {
      readonly is: 'opened'
      readonly orderId: Hex
      readonly escrowed: bigint
      readonly deposit: Deposit | undefined
      readonly deadline: number
    }
  | ({ readonly is: 'ended' } & Ending)
  | { readonly is: 'written'; readonly write: Write }
  /** A corporate action entered the list, at its index. */
  | { readonly is: 'enacted'; readonly index: number }
)

const OPENED = topicOf('OrderOpened')
const REFUNDED = topicOf('OrderRefunded')
const ENACTED = topicOf('ActionEnacted')
/** Events that tell all by themselves. */
const WHOLE: readonly (string | undefined)[] = [OPENED, ENACTED]

/** Transactions and blocks that travel in one request. */
const CALLS_AT_ONCE = 20
/** A block of an Ethereum chain takes no larger transaction. */
const MAX_INPUT_BYTES = 1_048_576

const transactionSchema = z.looseObject({
  to: z.nullable(addressSchema),
  input: hexBetween(0, MAX_INPUT_BYTES),
  blockHash: bytes32Schema,
})
type Transaction = z.output<typeof transactionSchema>
/** The symbol is zero for every order but a deposit of shares. */
const orderSchema = z.looseObject({ symbol: bytes32Schema, shares: z.bigint() })

/** A reader of one account's events. @throws ClientError `chain-reorganized`, `unexpected-answer`, and those of its node */
export function createFactReader(deps: {
  readonly rpc: Node
  readonly wallet: Wallet
  readonly contracts: Pick<PlatformContracts, 'escrow' | 'ledger' | 'actions'>
  readonly account: Hex
  readonly chainId: number
  readonly keys: Pick<Keyring, 'opened'>
  readonly maxBlocks: number | undefined
}) {
  const { rpc, contracts, account, maxBlocks } = deps
  const accountId = accountIdOf(account)
  const writes = { address: contracts.ledger, topics: [PORTFOLIO_UPDATED, accountId] }
  const orders = { address: contracts.escrow, topics: [[OPENED, REFUNDED], null, topicOfAddress(account)] }
  const escrow = createContract({ wallet: deps.wallet, address: contracts.escrow, abi: ESCROW_ABI })
  const enacted = { address: contracts.actions, topics: [ENACTED] }
  const pieces = createPieces({ rpc, queries: [writes, orders, enacted] }, maxBlocks)
  const piecesOfWrites = createPieces({ rpc, queries: [writes] }, maxBlocks)

  async function factsOf({ logs }: LogPiece): Promise<Fact[]> {
    const found = await readTransactions(rpc, logs)
    return Promise.all(
      logs.map(async (log) => {
        const at = { log, timestamp: found.timeOf(log) }
        const orderId = log.topics[1] ?? '0x'
        if (log.topics[0] === ENACTED) return { ...at, is: 'enacted', index: numberIn(orderId) }
        if (log.topics[0] === OPENED) {
          const escrowed = BigInt(wordAt(log.data, 0))
          const deposit = await depositOf(orderId, escrowed)
          return { ...at, is: 'opened', orderId, escrowed, deposit, deadline: numberIn(wordAt(log.data, 1)) }
        }
        const transaction = found.transactionOf(log)
        if (log.topics[0] === PORTFOLIO_UPDATED)
          return { ...at, is: 'written', write: await writeOf(log, transaction) }
        const returned = BigInt(wordAt(log.data, 0))
        const [kind, deposit] = await Promise.all([endOf(orderId, transaction), depositOf(orderId, returned)])
        return { ...at, is: 'ended', kind, orderId, returned, deposit }
      }),
    )
  }

  /** The events show no amount of shares; the order keeps it, also once it has ended. @param amount the event's, in USDC */
  async function depositOf(orderId: Hex, amount: bigint): Promise<Deposit | undefined> {
    if (amount > 0n) return undefined
    const order = await escrow.read('orders', [orderId], orderSchema)
    const symbol = bytes32ToName(order.symbol)
    return symbol === null ? undefined : { symbol, shares: order.shares }
  }

  async function writeOf(log: ChainLog, transaction: Transaction): Promise<Write> {
    const version = BigInt(wordAt(log.data, 0))
    const call = await callOf(version, transaction)
    return { version, call, opened: call ? await openVersion(deps.keys, accountId, call) : 'not-in-calldata' }
  }

  /** The event proves that a direct call took effect. Calldata of another contract may hold others besides. */
  async function callOf(version: bigint, { to, input }: Transaction): Promise<PortfolioWrite | null> {
    const calls = portfolioWrites(account, input).filter(
      (call) => call.version === version && call.userBlob !== '0x',
    )
    const direct = calls.find(
      ({ isDirect, signed }) => isDirect && to !== null && sameAddress(to, targetOf(signed.primaryType)),
    )
    return direct ?? firstUsed(calls)
  }

  /** An order that is refunded by the enclave, or else the account's own reclaim. */
  async function endOf(orderId: Hex, { to, input }: Transaction): Promise<'refunded' | 'reclaimed'> {
    const isForwarded = to === null || !sameAddress(to, contracts.escrow)
    if (!isReclaim(orderId, input, isForwarded)) return 'refunded'
    if (!isForwarded) return 'reclaimed'
    const refunds = forwardedAuthorizations('OrderRefund', orderId, input)
    return (await firstUsed(refunds.map((signed) => ({ signed })))) === null ? 'reclaimed' : 'refunded'
  }

  /** The first authorization that its contract has marked as used. */
  async function firstUsed<C extends Pick<PortfolioWrite, 'signed'>>(
    candidates: readonly C[],
  ): Promise<C | null> {
    for (const candidate of candidates) {
      const address = targetOf(candidate.signed.primaryType)
      const domain = { chainId: deps.chainId, verifyingContract: address }
      const digest = authorizationDigest(candidate.signed, domain)
      const contract = createContract({ wallet: deps.wallet, address, abi: DIGEST_ABI })
      if (await contract.read('usedDigest', [digest], z.boolean())) return candidate
    }
    return null
  }

  function targetOf(type: PrimaryType): Hex {
    return authorizationTargets[type].contract === 'OrderEscrow' ? contracts.escrow : contracts.ledger
  }

  return {
    /** The range's first part, as long as the node takes it. */
    async read(range: BlockRange): Promise<{ readonly piece: LogPiece; readonly facts: readonly Fact[] }> {
      const piece = await pieces.read(range, false)
      return { piece, facts: await factsOf(piece) }
    },
    /** The last write in the range; null if there is none. */
    async lastWrite({ from, to }: BlockRange): Promise<Write | null> {
      for (let end = to; end >= from; ) {
        const piece = await piecesOfWrites.read({ from, to: end }, true)
        const last = piece.logs.at(-1)
        if (last) return writeOf(last, (await readTransactions(rpc, [last])).transactionOf(last))
        end = piece.from - 1
      }
      return null
    },
  }
}

export type FactReader = ReturnType<typeof createFactReader>

/** The transactions of logs and the times of their blocks, which have to be of the logs' own blocks. */
async function readTransactions(node: Node, logs: readonly ChainLog[]) {
  const hashes = [
    ...new Set(logs.filter(({ topics }) => !WHOLE.includes(topics[0])).map(({ txHash }) => txHash)),
  ]
  const blocks = [...new Set(logs.filter(isUntimed).map(({ blockHash }) => blockHash))]
  const [transactions, headers] = await Promise.all([
    readAll(node, { method: 'eth_getTransactionByHash', keys: hashes, schema: transactionSchema }),
    readAll(node, { method: 'eth_getBlockByHash', keys: blocks, more: [false], schema: blockSchema }),
  ])
  return {
    transactionOf({ txHash, blockHash }: ChainLog): Transaction {
      const found = transactions.get(txHash)
      if (found?.blockHash === blockHash) return found
      throw new ClientError('chain-reorganized', REORGANIZED)
    },
    timeOf({ blockHash, blockTimestamp }: ChainLog): number {
      const time = blockTimestamp ?? headers.get(blockHash)?.timestamp
      if (time !== undefined) return time
      throw new ClientError('chain-reorganized', REORGANIZED)
    },
  }
}

function isUntimed({ blockTimestamp }: ChainLog): boolean {
  return blockTimestamp === undefined
}

export const REORGANIZED = 'The chain was reorganized while its history was read. Read it again.'

/** The answers to one question about several hashes; without those that the node does not know. */
async function readAll<T>(
  node: Node,
  asked: {
    readonly method: string
    readonly keys: readonly Hex[]
    readonly more?: readonly unknown[]
    readonly schema: z.ZodMiniType<T>
  },
): Promise<Map<Hex, T>> {
  const { method, keys, more = [], schema } = asked
  const found = new Map<Hex, T>()
  for (let at = 0; at < keys.length; at += CALLS_AT_ONCE) {
    const some = keys.slice(at, at + CALLS_AT_ONCE)
    const answers = await node.send(some.map((key) => ({ method, params: [key, ...more] })))
    for (const [index, key] of some.entries()) {
      const value = resultOf(answers[index], z.nullable(schema))
      if (value !== null) found.set(key, value)
    }
  }
  return found
}
