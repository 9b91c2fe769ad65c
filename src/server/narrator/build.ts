import type { RpcProvider } from '../../chain/provider.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config.js'
import type { Service } from '../lifetime.js'
import { createPoller } from '../poller.js'
import type { Engine, Fence } from '../store/engine.js'
import { createCursorStore } from '../store/narratorCursor.js'
import { createChainReader } from './chainReader.js'
import { createPrinter, type NarratorOutput, type Print } from './output.js'
import { createNarratorTick } from './poll.js'
import type { NarratorProgress } from './progress.js'

/** Wires the narrator. Starts nothing. */
export function buildNarrator(surroundings: {
  readonly config: Config
  readonly provider: RpcProvider
  readonly engine: Engine
  /** Of the lease on the narration. */
  readonly fence: Fence
  readonly logger: Logger
  readonly output: NarratorOutput
  readonly progress?: Pick<NarratorProgress, 'note' | 'notePrinting'>
}): Service {
  const { config, provider, engine, fence, logger, output, progress } = surroundings
  const { contracts, logRange } = config.chain
  const { intervalMs, confirmations } = config.narrator
  const write = createPrinter(output, config.narrator)
  const print: Print = async (told, signal) => {
    progress?.notePrinting(true)
    try {
      await write(told, signal)
    } finally {
      progress?.notePrinting(false)
    }
  }
  return createPoller({
    name: 'narrator',
    intervalMs,
    logger,
    tick: createNarratorTick({
      chain: createChainReader({ transport: provider.transport, contracts }),
      cursors: createCursorStore({ engine, fence, logger }),
      confirmations,
      maxRange: logRange,
      print,
      onLook: progress?.note,
      logger,
    }),
  })
}
