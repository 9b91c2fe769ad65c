import { afterEach, expect, test, vi } from 'vitest'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import type { RpcCall } from '../../../src/chain/rpc.js'
import { createChainReader } from '../../../src/server/narrator/chainReader.js'
import { FINAL_DEPTH } from '../../../src/server/narrator/history.js'
import { serverConfig } from '../../support/serverEnvironment.js'

afterEach(() => void vi.useRealTimers())

const PLAN = 30
const NUMBERS = Array.from({ length: FINAL_DEPTH + 1 }, (_, number) => number)
const hashOf = (number: unknown) => `0x${String(number).slice(2).padStart(64, '0')}`

/** A provider that refuses what comes in a second beyond its plan. */
function limitedNode() {
  let [used, isRefusing] = [0, false]
  const second = setInterval(() => {
    used = 0
  }, 1_000)
  return {
    close: () => clearInterval(second),
    faults: () => [isRefusing ? ('rate-limit' as const) : null],
    async send(calls: readonly RpcCall[]) {
      isRefusing = used + calls.length > PLAN
      if (isRefusing) throw new ChainUnavailableError(1)
      used += calls.length
      return calls.map(({ params: [number] }) => ({
        result: { number, hash: hashOf(number), parentHash: hashOf(0), timestamp: toQuantity(0) },
      }))
    },
  }
}

test('more blocks than a second of a plan gives are read in several, once the plan is known', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const node = limitedNode()
  const reader = createChainReader({ rpc: node, contracts: serverConfig().chain.contracts })
  for (let tick = 0; tick < 5; tick++) {
    const hashes = reader.hashes(NUMBERS).catch(() => undefined)
    await vi.advanceTimersByTimeAsync(10_000)
    const found = await hashes
    if (found === undefined) continue
    expect([...found.keys()]).toEqual(NUMBERS)
    node.close()
    return
  }
  expect.unreachable('the blocks were never read')
})
