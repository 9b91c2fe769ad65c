import type { Provider } from 'ethers'
import { useMemo } from 'preact/hooks'
import { contractsOf } from '../chain/contracts.js'
import { createLogTail, type LogsSoFar } from '../chain/logs.js'
import { type Polled, usePolled } from '../hooks/usePolled.js'
import type { Settings } from '../settings.js'

const [POLL_MS, SHOWN, BLOCKS_BACK] = [2_000, 100, 5_000]

/** The five contracts' logs as they happen, and those of the last blocks before. */
export function useEvents(provider: Provider, settings: Settings): Polled<LogsSoFar> {
  return usePolled(
    useMemo(() => createEventsReader(provider, settings), [provider, settings]),
    POLL_MS,
  )
}

function createEventsReader(provider: Provider, { pins, chain }: Settings): () => Promise<LogsSoFar> {
  let look: ReturnType<typeof createLogTail> | null = null

  async function begin() {
    const address = Object.values(await contractsOf(provider, pins.escrow))
    const fromBlock = Math.max(chain.firstBlock, (await provider.getBlockNumber()) - BLOCKS_BACK)
    return createLogTail(provider, { address, fromBlock, most: SHOWN })
  }

  return async () => {
    look ??= await begin()
    return look()
  }
}
