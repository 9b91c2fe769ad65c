import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { type Flood, startFlood, wire } from '../support/flood.js'
import { createRandom } from './random.js'

const SHAPE = {
  localAddress: '127.0.0.66',
  connections: 10,
  depth: 5,
  reconnects: true,
  refusedMs: 100,
}
const CHECK_MS = 200
/** Percent of the requests. They are few, as the server runs the enclave for each junk rulebook. */
const RULEBOOKS = 2

/**
 * One client that sends every request that costs it nothing. It waits only after a refusal: a flood of refused requests, which
 * test/attacks/floods.test.ts has, would take the processor from the storm and from the tests beside it.
 * @param url of the server that listens now
 */
export function startHostileClient(url: () => string | undefined, seed: number) {
  const random = createRandom(seed)
  const point = publicKeyOf(randomBytes(32))
  const floods: Flood[] = []
  const stopping = new AbortController()
  const hex = (length: number): Hex => bytesToHex(randomBytes(length))
  const junk = () => ({ epk: point, iv: hex(12), ct: hex(random.pick([16, 64, 4_096])), tag: hex(16) })

  function request(): string {
    const percent = random.integer(1, 100)
    if (percent <= RULEBOOKS) return wire('POST', '/policy', JSON.stringify(junk()))
    if (percent <= 20) return wire('POST', '/orders', JSON.stringify({ orderId: hex(32), ...junk() }))
    if (percent <= 40) return wire('POST', '/orders', '{"orderId":')
    if (percent <= 60) return wire('POST', '/relay', '{}')
    return wire('GET', random.pick(['/health', '/clock', `/orders/${hex(32)}`]))
  }

  async function follow(): Promise<void> {
    let at: string | undefined
    while (!stopping.signal.aborted) {
      if (url() !== at) {
        floods.at(-1)?.stop()
        at = url()
        if (at !== undefined) floods.push(startFlood({ url: at, ...SHAPE, request }))
      }
      await sleep(CHECK_MS)
    }
    floods.at(-1)?.stop()
  }
  const following = follow()

  return {
    faults: () =>
      floods.some((flood) => flood.answers().has(500)) ? ['a hostile client was answered with 500'] : [],
    stop() {
      stopping.abort()
      return following
    },
  }
}
