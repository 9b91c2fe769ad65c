import type { ReadonlySignal, Signal } from '@preact/signals'
import type { HistoryEntry, HistoryOptions } from '../../src/client/history.js'
import { ClientError, type HistoryStore } from '../../src/client/index.js'
import type { Ask } from '../query.js'
import type { Settings } from '../settings.js'

interface TradeHistoryDeps {
  readonly list: (options: HistoryOptions) => AsyncIterable<HistoryEntry>
  readonly settings: Pick<Settings, 'chain'>
  readonly store: HistoryStore
  /** The portfolio's version and its corporate actions: more of them are read at once. */
  readonly version: ReadonlySignal<string | null>
  /** Set to the Unix seconds up to which the history is final. */
  readonly finalUntil: Signal<number>
}

/** How often the history is read anew after a reorganization before that counts as a failure. */
const ATTEMPTS = 3

/** Reads what the account bought, sold and withdrew, oldest first. Each read asks the chain only for new blocks. */
export function createTradeHistory({
  list,
  settings,
  store,
  version,
  finalUntil,
}: TradeHistoryDeps): Ask<readonly HistoryEntry[]> {
  return async (signal) => {
    // Read before the first `await`, so that a new version asks again.
    version.value
    for (let attempt = 1; ; attempt++) {
      try {
        const entries: HistoryEntry[] = []
        let until = 0
        const onFinal = (time: number) => {
          until = time
        }
        const options = { fromBlock: settings.chain.firstBlock, store, signal, onFinal }
        for await (const entry of list(options)) entries.push(entry)
        finalUntil.value = until
        return entries
      } catch (error) {
        const isReorganized = error instanceof ClientError && error.code === 'chain-reorganized'
        if (!isReorganized || attempt === ATTEMPTS) throw error
      }
    }
  }
}
