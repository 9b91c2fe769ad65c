import type { BlockTag } from 'ethers'
import type { EquityToken } from '../../chain/contracts.js'
import type { EquityFacts, Lenses } from '../../chain/lenses.js'
import type { Hex } from '../../protocol/hex.js'
import { bytes32ToName, nameToBytes32, symbolSchema } from '../../protocol/identifiers.js'
import { createPoller } from '../../service/lifetime.js'
import type { Logger } from '../../service/logger.js'
import { untilAborted } from '../../service/waiting.js'

const INTERVAL_MS = 15_000

/** The symbols listed on chain, from memory. Lists are sorted because every delisting changes the chain's order. */
export type ListedSymbols = ReturnType<typeof createListedSymbols>

export function createListedSymbols(options: {
  readonly token: Pick<EquityToken, 'listedSymbols'>
  readonly logger: Logger
}) {
  const { token, logger } = options
  const seen = new Set<string>()
  let current: readonly string[] | undefined

  async function read(block?: BlockTag): Promise<readonly string[]> {
    const symbols = symbolsOf(await token.listedSymbols(block))
    for (const symbol of symbols) seen.add(symbol)
    current = symbols
    return symbols
  }

  return {
    /** The symbols as last read; undefined until the first answer. */
    current: () => current,
    /** Every symbol that was listed at one of the reads since the start. */
    seen: () => [...seen].sort(),
    /** Reads the chain, by default at the latest block. @throws ChainUnavailableError, ChainAnswerError */
    read,
    /** Reads at intervals, and keeps the last answer through an outage. */
    service: createPoller({
      name: 'listed-symbols',
      intervalMs: INTERVAL_MS,
      logger,
      async tick(signal) {
        await untilAborted(read(), signal)
      },
    }),
  }
}

/** A listing whose name is not a ticker can't be traded here and is omitted. */
function symbolsOf(ids: readonly Hex[]): string[] {
  return ids
    .flatMap((id) => {
      const symbol = symbolSchema.safeParse(bytes32ToName(id))
      return symbol.success ? [symbol.data] : []
    })
    .sort()
}

/**
 * Reads the list and an owner's facts of each symbol, sorted, in one request. Facts are read for the symbols known before; only a
 * new symbol costs another request.
 */
export async function readWithListed(
  { symbols, lenses }: { readonly symbols: ListedSymbols; readonly lenses: Pick<Lenses, 'equities'> },
  owner: Hex,
  block: BlockTag,
): Promise<{ readonly listed: readonly string[]; readonly facts: ReadonlyMap<string, EquityFacts> }> {
  const expected = symbols.seen()
  const readAll = async (names: readonly string[]) => {
    const facts = await lenses.equities(owner, names.map(nameToBytes32), block)
    return names.flatMap((name, index): [string, EquityFacts][] => {
      const found = facts[index]
      return found === undefined ? [] : [[name, found]]
    })
  }
  const [listed, early] = await Promise.all([symbols.read(block), readAll(expected)])
  const late = await readAll(listed.filter((symbol) => !expected.includes(symbol)))
  return { listed, facts: new Map([...early, ...late].sort(([a], [b]) => (a < b ? -1 : 1))) }
}
