// A portfolio's former versions, from the data of the transactions that wrote them. Also runs in a browser.
import * as z from 'zod'
import { standsAt } from '../protocol/corporateActions.js'
import { type Hex, hexBetween } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { portfolioHashAfter } from '../protocol/ledgerBlob.js'
import type { Portfolio } from '../protocol/portfolio.js'
import { PORTFOLIO_UPDATED, type PortfolioWrite, portfolioWrites } from './calledAuthorization.js'
import { ChainAnswerError } from './errors.js'
import { resultOf } from './jsonRpc.js'
import { createLogReader, wordAt } from './logReader.js'
import type { Rpc } from './rpc.js'

/** Nodes take a query over so many blocks; the reader asks for fewer where they do not. */
const MAX_BLOCKS = 10_000
/** A block of an Ethereum chain takes no larger transaction. */
const MAX_INPUT_BYTES = 1_048_576
const transactionSchema = z.looseObject({ input: hexBetween(0, MAX_INPUT_BYTES) })

interface Place {
  readonly rpc: Pick<Rpc, 'send'>
  readonly ledger: Hex
  readonly account: Hex
}

/**
 * The versions of a portfolio before `stored`, the newest first. The ledger's running hash proves each, whether its transaction
 * called the contract or another contract forwarded the call.
 * @param head the number of a block at which `stored` is the newest version
 * @throws ChainUnavailableError; ChainAnswerError also where a version does not stand in the data of its transaction
 */
async function* readEarlierWrites(
  { rpc, ledger, account }: Place,
  stored: { readonly version: bigint; readonly hash: Hex },
  head: number,
): AsyncGenerator<PortfolioWrite> {
  const queries = [{ address: ledger, topics: [PORTFOLIO_UPDATED, accountIdOf(account)] }]
  const reader = createLogReader({ rpc, queries, maxBlocks: MAX_BLOCKS })
  let { version, hash } = stored
  for (let to = head; version > 1n; ) {
    const piece = await reader.readPiece({ from: 0, to }, { backwards: true })
    if (piece === undefined) throw new ChainAnswerError('the node lags behind')
    for (const log of piece.logs.toReversed()) {
      const written = BigInt(wordAt(log.data, 0))
      if (written > version) continue
      const write = await writeIn(log.txHash, hash)
      // The newest is what the caller has.
      if (written < stored.version) yield write
      if (written === 1n) return
      version = written
      hash = write.previous
    }
    if (piece.from === 0) throw new ChainAnswerError('the node left out events of a portfolio')
    to = piece.from - 1
  }

  async function writeIn(txHash: Hex, after: Hex): Promise<PortfolioWrite> {
    const [answer] = await rpc.send([{ method: 'eth_getTransactionByHash', params: [txHash] }])
    const { input } = resultOf(answer, transactionSchema)
    const found = portfolioWrites(account, input).find(
      (write) => portfolioHashAfter(write.previous, write) === after,
    )
    if (found === undefined) throw new ChainAnswerError('a portfolio does not stand in its transaction')
    return found
  }
}

/**
 * The portfolio that stood at each of these moments: `carry` asks for them. Null before the first version; absent where a version
 * in between does not open.
 * @throws as {@link readEarlierWrites}
 */
export async function portfoliosAt(
  moments: readonly number[],
  { stored, head, ...place }: Place & { stored: { version: bigint; hash: Hex }; head: number },
  open: (write: PortfolioWrite) => Promise<Portfolio | undefined>,
): Promise<Map<number, Portfolio | null>> {
  const found = new Map<number, Portfolio | null>()
  if (moments.length === 0) return found
  for await (const write of readEarlierWrites(place, stored, head)) {
    const portfolio = await open(write)
    if (portfolio === undefined) return found
    for (const moment of moments) {
      if (!found.has(moment) && standsAt(portfolio, moment)) found.set(moment, portfolio)
    }
    if (found.size === moments.length) return found
  }
  for (const moment of moments) if (!found.has(moment)) found.set(moment, null)
  return found
}
