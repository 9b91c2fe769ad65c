import type { RpcProvider } from '../../chain/provider.js'
import type { Logger } from '../../service/logger.js'
import type { Config } from '../config.js'
import type { Service } from '../lifetime.js'
import { createPoller, type Tick } from '../poller.js'
import type { Engine } from '../store/engine.js'
import { createLeaseHolder, type LeaseObserver, leaseTiming, type Term } from '../store/leaseHolder.js'
import { createCursorStore } from '../store/narratorCursor.js'
import { StorageError } from '../store/storageError.js'
import { createChainReader } from './chainReader.js'
import { createPrinter, type NarratorOutput, type Print } from './output.js'
import { createNarratorTick } from './poll.js'
import type { NarratorProgress } from './progress.js'

/**
 * Wires the narrator, which works while this server holds its lease. Each term begins with the stored cursor, and its saves
 * carry the term's fence, so no two servers narrate one event. Starts nothing.
 */
export function buildNarrator(surroundings: {
  readonly config: Config
  readonly provider: RpcProvider
  readonly engine: Engine
  /** This server, among those that share the database. */
  readonly serverId: string
  readonly logger: Logger
  readonly output: NarratorOutput
  readonly progress?: Pick<NarratorProgress, 'begin' | 'end' | 'note' | 'notePrinting'>
  readonly observeLease?: LeaseObserver
}): Service {
  const { config, provider, engine, serverId, logger, output, progress, observeLease: observe } = surroundings
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

  async function serve(term: Term): Promise<void> {
    const poller = createPoller({
      name: 'narrator',
      intervalMs,
      logger,
      tick: tickOf(term),
    })
    progress?.begin()
    await poller.start()
    await term.over
    await poller.stop()
    progress?.end()
  }

  function tickOf(term: Term): Tick {
    const tick = createNarratorTick({
      chain: createChainReader({ transport: provider.transport, contracts }),
      cursors: createCursorStore({ engine, fence: term.fence, logger }),
      confirmations,
      maxRange: logRange,
      print,
      onLook: progress?.note,
      logger,
    })
    return async (signal) => {
      try {
        return await tick(signal)
      } catch (error) {
        if (error instanceof StorageError && error.code === 'LEASE_LOST') term.end()
        throw error
      }
    }
  }

  return createLeaseHolder({
    leases: engine.leases,
    lease: 'narrator',
    holder: serverId,
    serve,
    observe,
    timing: leaseTiming(config.leaseTtlMs),
    logger,
  })
}
