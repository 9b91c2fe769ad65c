import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonRpcApiProvider } from 'ethers'
import { BLOCK_SECONDS } from './settings.js'

/** Makes blocks by the clock, and nothing else to the chain at the same time. */
export interface Miner {
  /** Does something to the chain between two blocks. */
  between<T>(action: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/**
 * Takes over from the node. Where it makes its blocks itself while it reorganizes, it loses some: their numbers then
 * have no block.
 */
export async function startMiner({ provider }: { provider: JsonRpcApiProvider }): Promise<Miner> {
  await provider.send('evm_setAutomine', [false])
  await provider.send('evm_setIntervalMining', [0])
  let stopped = false
  let last: Promise<unknown> = Promise.resolve()

  function between<T>(action: () => Promise<T>): Promise<T> {
    const done = last.then(action)
    last = done.catch(() => undefined)
    return done
  }

  async function mine(): Promise<void> {
    while (!stopped) {
      await between(() => provider.send('evm_mine', []))
      await sleep(BLOCK_SECONDS * 1_000)
    }
  }

  const mining = mine()
  return {
    between,
    async stop() {
      stopped = true
      await mining
    },
  }
}
