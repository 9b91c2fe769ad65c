import type { RpcProvider } from '../../chain/provider.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config.js'
import type { Service } from '../lifetime.js'
import { createPoller } from '../poller.js'
import type { ServeLease } from '../store/leaseHolder.js'
import { createChainReader } from './chainReader.js'
import { createCursorStore } from './history.js'
import { createPrinter, type NarratorOutput, type Print } from './output.js'
import { createNarratorTick } from './poll.js'
import type { NarratorProgress } from './progress.js'

/**
 * Wires the narrator, which works while this server holds its lease. Each term begins with the stored cursor, and its saves
 * carry the term's fence, so no two servers narrate one event. Starts nothing.
 */
export function buildNarrator(deps: {
  readonly config: Config
  readonly provider: RpcProvider
  readonly serveLease: ServeLease
  readonly logger: Logger
  readonly output: NarratorOutput
  readonly progress?: Pick<NarratorProgress, 'begin' | 'end' | 'note' | 'notePrinting'>
}): Service {
  const { config, provider, serveLease, logger, output, progress } = deps
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

  const counting: Service = {
    name: 'narrator progress',
    async start() {
      progress?.begin()
    },
    async stop() {
      progress?.end()
    },
  }

  return serveLease('narrator', (engine) => {
    const tick = createNarratorTick({
      chain: createChainReader({ transport: provider.transport, contracts }),
      cursors: createCursorStore({ engine, logger }),
      confirmations,
      maxRange: logRange,
      print,
      onLook: progress?.note,
      logger,
    })
    return [counting, createPoller({ name: 'narrator', intervalMs, tick, logger })]
  })
}
