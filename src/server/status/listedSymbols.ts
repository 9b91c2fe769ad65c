import type { BlockTag } from 'ethers'
import type { EquityToken } from '../../chain/equityToken.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName, symbolSchema } from '../../protocol/identifiers.js'
import { untilAborted } from '../async/waiting.js'
import type { Service } from '../lifetime.js'
import type { Logger } from '../logger.js'
import { createPoller } from '../poller.js'

/** The symbols listed on chain, remembered. Lists are sorted: the chain's order changes with every delisting. */
export interface ListedSymbols {
  /** As last read, without asking; undefined until the first answer. */
  current(): readonly string[] | undefined
  /** Every symbol that was listed at one of the reads since the start, without asking. */
  seen(): readonly string[]
  /** Asks the chain, by default at the latest block, and remembers the answer. @throws ChainUnavailableError, ChainAnswerError */
  read(block?: BlockTag): Promise<readonly string[]>
  /** Reads again and again, and keeps the last answer through an outage. */
  readonly service: Service
}

export function createListedSymbols(options: {
  readonly token: Pick<EquityToken, 'listedSymbols'>
  readonly intervalMs: number
  readonly logger: Logger
}): ListedSymbols {
  const { token, intervalMs, logger } = options
  const seen = new Set<string>()
  let current: readonly string[] | undefined

  async function read(block?: BlockTag): Promise<readonly string[]> {
    const symbols = symbolsOf(await token.listedSymbols(block))
    for (const symbol of symbols) seen.add(symbol)
    current = symbols
    return symbols
  }

  return {
    current: () => current,
    seen: () => [...seen].sort(),
    read,
    service: createPoller({
      name: 'listed-symbols',
      intervalMs,
      logger,
      async tick(signal) {
        await untilAborted(read(), signal)
      },
    }),
  }
}

/** A listing whose name is not a ticker can't be traded here and is left out. */
function symbolsOf(ids: readonly Hex[]): string[] {
  return ids
    .flatMap((id) => {
      const symbol = symbolSchema.safeParse(bytes32ToName(id))
      return symbol.success ? [symbol.data] : []
    })
    .sort()
}

/**
 * Reads the list and something of each symbol in one request: what is asked of is what was listed before, and only
 * a symbol that is new since then costs another request.
 *
 * @param read of one symbol at the block, by its `bytes32`-able name; called in the same turn as the list is asked for
 */
export async function readWithListed<T>(
  symbols: ListedSymbols,
  block: BlockTag,
  read: (symbol: string) => Promise<T>,
): Promise<{ readonly listed: readonly string[]; readonly values: ReadonlyMap<string, T> }> {
  const expected = symbols.seen()
  const readAll = (names: readonly string[]) =>
    Promise.all(names.map(async (name): Promise<[string, T]> => [name, await read(name)]))
  const [listed, early] = await Promise.all([symbols.read(block), readAll(expected)])
  const late = await readAll(listed.filter((symbol) => !expected.includes(symbol)))
  return { listed, values: new Map([...early, ...late]) }
}

/** The order in which answers list equities. */
export function bySymbol(a: { readonly symbol: string }, b: { readonly symbol: string }): number {
  return a.symbol < b.symbol ? -1 : 1
}
