// A portfolio's former versions, from the data of the transactions that wrote them.
import * as z from 'zod'
import { calledAuthorization, type SignedWrite } from '../chain/calledAuthorization.js'
import { ChainAnswerError } from '../chain/errors.js'
import { interfaces } from '../chain/interfaces.js'
import { resultOf } from '../chain/jsonRpc.js'
import { createLogReader, wordAt } from '../chain/logReader.js'
import type { Rpc } from '../chain/rpc.js'
import { type Hex, hexBetween } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { portfolioHashAfter } from '../protocol/ledgerBlob.js'
import type { BlockPoint } from './heads.js'

/** One version of a portfolio as the ledger took it. */
export interface EarlierWrite {
  readonly version: bigint
  readonly enclaveBlob: Hex
}

const UPDATED = interfaces.confidentialLedger.getEvent('PortfolioUpdated')?.topicHash ?? ''
const TYPES = ['PortfolioUpdate', 'OrderSettlement', 'OrderRefund'] as const
/** Nodes take a query over so many blocks; the reader asks for fewer where they do not. */
const MAX_BLOCKS = 10_000
/** A block of an Ethereum chain takes no larger transaction. */
const MAX_INPUT_BYTES = 1_048_576
const transactionSchema = z.looseObject({ input: hexBetween(0, MAX_INPUT_BYTES) })

/** @throws ChainUnavailableError; ChainAnswerError also where a version does not stand in the data of its transaction */
export async function* readEarlierWrites(
  { rpc, ledger, accountId }: { rpc: Pick<Rpc, 'send'>; ledger: Hex; accountId: Hex },
  stored: { version: bigint; hash: Hex },
  block: BlockPoint,
): AsyncGenerator<EarlierWrite> {
  const queries = [{ address: ledger, topics: [UPDATED, accountId] }]
  const reader = createLogReader({ rpc, queries, maxBlocks: MAX_BLOCKS })
  let { version, hash } = stored
  for (let to = block.number; version > 1n; ) {
    const piece = await reader.readPiece({ from: 0, to }, { backwards: true })
    if (piece === undefined) throw new ChainAnswerError('the node lags behind')
    for (const log of piece.logs.toReversed()) {
      const written = BigInt(wordAt(log.data, 0))
      if (written > version) continue
      const { message } = await writeIn(log.txHash, hash)
      // The newest is what the caller has.
      if (written < stored.version) yield { version: written, enclaveBlob: message.enclaveBlob }
      if (written === 1n) return
      version = written
      hash = message.previous
    }
    if (piece.from === 0) return
    to = piece.from - 1
  }

  async function writeIn(txHash: Hex, after: Hex): Promise<SignedWrite> {
    const [answer] = await rpc.send([{ method: 'eth_getTransactionByHash', params: [txHash] }])
    const { input } = resultOf(answer, transactionSchema)
    const found = TYPES.flatMap((type) => {
      const called = calledAuthorization(type, input)
      return called ? [called] : []
    }).find(({ message }) => isIts(message) && portfolioHashAfter(message.previous, message) === after)
    if (found === undefined) throw new ChainAnswerError('a portfolio does not stand in its transaction')
    return found
  }

  function isIts({ account }: SignedWrite['message']): boolean {
    return accountIdOf(account) === accountId
  }
}
