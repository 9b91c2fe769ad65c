// A portfolio's former versions, from the data of the transactions that wrote them. Also runs in a browser.
import * as z from 'zod/mini'
import { sameAddress } from '../protocol/address.js'
import { standsAt } from '../protocol/corporateActions.js'
import { type Hex, hexBetween } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { portfolioHashAfter } from '../protocol/ledgerBlob.js'
import type { Portfolio } from '../protocol/portfolio.js'
import { PORTFOLIO_UPDATED, type PortfolioWrite, portfolioWrites } from './calledAuthorization.js'
import { ChainAnswerError } from './errors.js'
import { resultOf } from './jsonRpc.js'
import { readBackwards, wordAt } from './logReader.js'
import type { Rpc } from './rpc.js'

/** A block of an Ethereum chain takes no larger transaction. */
const MAX_INPUT_BYTES = 1_048_576
const transactionSchema = z.looseObject({ input: hexBetween(0, MAX_INPUT_BYTES) })

interface Place {
  readonly rpc: Pick<Rpc, 'send'>
  readonly ledger: Hex
  readonly account: Hex
}

/** The newest version that counts: how often the portfolio was written, and the ledger's running hash of that. */
interface Stored {
  readonly version: bigint
  readonly hash: Hex
}

/** A version, whose it is, and the block that brought it. */
export interface AccountWrite extends PortfolioWrite {
  readonly account: Hex
  readonly block: number
}

/**
 * The versions of a portfolio up to `stored`, the newest first. The ledger's running hash proves each, whether its transaction
 * called the contract or another contract forwarded the call.
 * @param head the number of a block at which `stored` is the newest version
 * @throws ChainUnavailableError; ChainAnswerError also where a version does not stand in the data of its transaction
 */
async function* readWrites({
  rpc,
  ledger,
  account,
  stored,
  head,
}: Place & { readonly stored: Stored; readonly head: number }): AsyncGenerator<AccountWrite> {
  const queries = [{ address: ledger, topics: [PORTFOLIO_UPDATED, accountIdOf(account)] }]
  let { version, hash } = stored
  for await (const { logs } of readBackwards({ rpc, queries }, head)) {
    for (const log of logs.toReversed()) {
      const written = BigInt(wordAt(log.data, 0))
      if (written > version) continue
      const write = await writeIn(log.txHash, hash)
      yield { ...write, account, block: log.blockNumber }
      if (written === 1n) return
      version = written
      hash = write.previous
    }
  }
  throw new ChainAnswerError('the node left out events of a portfolio')

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
 * The portfolios whose shares are the account's today, as they stood at each of these moments: `carry` asks for them. Its own, and that of
 * a lost wallet which moved to it later; none before a first version, nor where what stood then has moved away since.
 * A moment is absent where a version in between does not open.
 * @param at.isLeft whether the account is such a lost wallet, asked for the new one
 * @throws as {@link readWrites}
 */
export async function portfoliosAt(
  moments: readonly number[],
  at: Place & { readonly stored: Stored; readonly head: number; readonly isLeft?: boolean },
  open: (write: AccountWrite) => Promise<Portfolio | undefined>,
): Promise<Map<number, readonly Portfolio[]>> {
  const found = new Map<number, readonly Portfolio[]>()
  let missing = moments
  let inherited: { readonly moments: readonly number[]; readonly lost: typeof at } | undefined
  if (moments.length === 0) return found
  for await (const write of readWrites(at)) {
    // The newest is what the caller has.
    if (write.version < at.stored.version) {
      const portfolio = await open(write)
      if (portfolio === undefined) return withInherited()
      for (const moment of missing) if (standsAt(portfolio, moment)) found.set(moment, [portfolio])
      missing = missing.filter((moment) => !found.has(moment))
    }
    if (missing.length === 0) break
    const move = write.signed.primaryType === 'PortfolioMove' ? write.signed.message : null
    if (move && sameAddress(move.from, at.account)) {
      if (!at.isLeft) break
    } else if (move) {
      const stored = { version: move.version, hash: portfolioHashAfter(move.previous, move) }
      inherited ??= {
        moments: missing,
        lost: { ...at, account: move.from, stored, head: write.block, isLeft: true },
      }
    }
  }
  for (const moment of missing) found.set(moment, [])
  return withInherited()

  async function withInherited() {
    if (inherited === undefined) return found
    const left = await portfoliosAt(inherited.moments, inherited.lost, open)
    for (const moment of inherited.moments) {
      const [own, lost] = [found.get(moment), left.get(moment)]
      if (own && lost) found.set(moment, [...own, ...lost])
      else found.delete(moment)
    }
    return found
  }
}
