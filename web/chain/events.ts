import type { Provider } from 'ethers'
import type { Settings } from '../settings.js'
import type { Ask } from '../state/query.js'
import { contractsOf } from './contracts.js'
import { inTime } from './inTime.js'
import { createLogTail, type LogsSoFar } from './logs.js'
import { once } from './once.js'

const [SHOWN, BLOCKS_BACK] = [100, 5_000]

/** Reads the five contracts' logs as they appear, starting with those of the last blocks. */
export function createEventsReader(provider: Provider, { pins, chain }: Settings): Ask<LogsSoFar> {
  const begun = once(async () => {
    const address = Object.values(await contractsOf(provider, pins.escrow))
    const head = await inTime('getBlockNumber', provider.getBlockNumber())
    const fromBlock = Math.max(chain.firstBlock, head - BLOCKS_BACK)
    return createLogTail(provider, { address, fromBlock, most: SHOWN })
  })

  return async (signal, report) => {
    const look = await begun()
    return look({ signal, onPart: report })
  }
}
