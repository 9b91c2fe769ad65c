import type { RpcProvider } from '../../chain/provider.js'
import type { Config } from '../config.js'
import type { Service } from '../lifetime.js'
import type { Logger } from '../logger.js'
import { createPoller } from '../poller.js'
import type { AtomicFiles } from '../store/atomicFiles.js'
import { createCursorStore } from '../store/narratorCursor.js'
import { createChainReader } from './chainReader.js'
import { createPrinter, type NarratorOutput } from './output.js'
import { createNarratorTick, type NarratorLook } from './poll.js'

/** Wires the narrator. Starts nothing. */
export function buildNarrator(surroundings: {
  readonly config: Config
  readonly provider: RpcProvider
  readonly files: AtomicFiles
  readonly logger: Logger
  readonly output: NarratorOutput
  /** Told of each look that succeeded. */
  readonly onLook?: (look: NarratorLook) => void
}): Service {
  const { config, provider, files, logger, output, onLook } = surroundings
  const { contracts, logRange } = config.chain
  const { intervalMs, confirmations } = config.narrator
  return createPoller({
    name: 'narrator',
    intervalMs,
    logger,
    tick: createNarratorTick({
      chain: createChainReader({ transport: provider.transport, contracts }),
      cursors: createCursorStore({ files, logger }),
      confirmations,
      maxRange: logRange,
      print: createPrinter(output, config.narrator),
      onLook,
      logger,
    }),
  })
}
