import { Contract, type Provider } from 'ethers'
import { z } from 'zod'
import { equityTokenAbi } from '../../chain/generated/equityTokenAbi.js'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { bytes32ToName, symbolSchema } from '../../protocol/identifiers.js'
import type { Service } from '../lifetime.js'
import type { Logger } from '../logger.js'
import { createPoller } from '../poller.js'

/** The symbols listed on chain as last read, without asking: empty until the first answer. */
export interface ListedSymbols {
  readonly current: () => readonly string[]
  readonly service: Service
}

/** Reads `listedSymbols()` again and again, and keeps the last answer through an outage. */
export function createListedSymbols(options: {
  readonly provider: Provider
  readonly equityToken: Hex
  readonly intervalMs: number
  readonly logger: Logger
}): ListedSymbols {
  const { provider, equityToken, intervalMs, logger } = options
  const token = new Contract(equityToken, equityTokenAbi, provider)
  let symbols: readonly string[] = []
  return {
    current: () => symbols,
    service: createPoller({
      name: 'listed-symbols',
      intervalMs,
      logger,
      async tick() {
        symbols = symbolsOf(await token.getFunction('listedSymbols').staticCall())
      },
    }),
  }
}

/** A listing whose name is no ticker can't be traded here and is left out. */
function symbolsOf(answer: unknown): string[] {
  const names = z.array(bytes32Schema).parse(answer).map(bytes32ToName)
  return names
    .filter((name) => name !== null && symbolSchema.safeParse(name).success)
    .filter((name) => name !== null)
}
