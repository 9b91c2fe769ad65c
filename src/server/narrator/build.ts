import type { RpcProvider } from '../../chain/provider.js'
import type { Config } from '../config.js'
import type { Service } from '../lifetime.js'
import type { Logger } from '../logger.js'
import { createPoller } from '../poller.js'
import type { AtomicFiles } from '../store/atomicFiles.js'
import { createCursorStore } from '../store/narratorCursor.js'
import { createChainReader } from './chainReader.js'
import { createNarratorTick, type NarratorLook } from './poll.js'

/** Wires the narrator. Starts nothing. */
export function buildNarrator(surroundings: {
  readonly config: Config
  readonly provider: RpcProvider
  readonly files: AtomicFiles
  readonly logger: Logger
  /** Takes one line, without its end. */
  readonly print: (line: string) => void
  /** Told of each look that succeeded. */
  readonly onLook?: (look: NarratorLook) => void
}): Service {
  const { config, provider, files, logger, print, onLook } = surroundings
  const { contracts, confirmations, narratorIntervalMs, logRange } = config.chain
  return createPoller({
    name: 'narrator',
    intervalMs: narratorIntervalMs,
    logger,
    tick: createNarratorTick({
      chain: createChainReader({ transport: provider.transport, contracts }),
      cursors: createCursorStore({ files, logger }),
      confirmations,
      maxRange: logRange,
      print,
      onLook,
      logger,
    }),
  })
}
