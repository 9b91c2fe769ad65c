import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesToHex, type Hex } from '../../../src/protocol/hex.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'
import { type Flood, startFlood, wire } from '../../support/flood.js'
import { createRandom } from './random.js'

/**
 * One client that sends every request that costs it nothing. It waits only after a refusal: a flood of refused requests, which
 * test/attacks/floods.test.ts has, would take the processor from the storm and from the tests beside it.
 */
export interface HostileClient {
  /** Counts the answers so far, by status. */
  answered(): Record<string, number>
  faults(): string[]
  stop(): Promise<void>
}

export interface HostileOptions {
  /** The URL of the server that listens now. */
  readonly url: () => string | undefined
  readonly seed: number
  /** Requests of others to copy: `[path, body]`. */
  readonly copies: () => readonly (readonly [string, string])[]
}

const ADDRESS = '127.0.0.66'
const CONNECTIONS = 10
const DEPTH = 5
const REFUSED_MS = 100
const LOOK_MS = 200
/** Percent of the requests. They are few, as the server runs the enclave for each junk rulebook. */
const RULEBOOKS = 2

export function startHostileClient({ url, seed, copies }: HostileOptions): HostileClient {
  const random = createRandom(seed)
  const point = publicKeyOf(randomBytes(32))
  const floods: Flood[] = []
  const hex = (length: number): Hex => bytesToHex(randomBytes(length))
  const junk = () => ({ epk: point, iv: hex(12), ct: hex(random.pick([16, 64, 4_096])), tag: hex(16) })
  let isStopped = false

  function request(): string {
    const percent = random.integer(1, 100)
    if (percent <= RULEBOOKS) return wire('POST', '/policy', JSON.stringify(junk()))
    if (percent <= 20) return wire('POST', '/orders', JSON.stringify({ orderId: hex(32), ...junk() }))
    if (percent <= 30) return wire('POST', '/orders', '{"orderId":')
    if (percent <= 50) return wire('POST', '/relay', '{}')
    if (percent <= 70) {
      const [path, body] = random.shuffled(copies())[0] ?? ['/relay', '{}']
      return wire('POST', path, body)
    }
    return wire('GET', random.pick(['/health', '/health', '/clock', `/orders/${hex(32)}`]))
  }

  async function follow(): Promise<void> {
    let at: string | undefined
    while (!isStopped) {
      if (url() !== at) {
        floods.at(-1)?.stop()
        at = url()
        const shape = {
          localAddress: ADDRESS,
          connections: CONNECTIONS,
          depth: DEPTH,
          reconnects: true,
          refusedMs: REFUSED_MS,
        }
        if (at !== undefined) floods.push(startFlood({ url: at, ...shape, request }))
      }
      await sleep(LOOK_MS)
    }
  }
  const following = follow()

  function answered(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const [status, count] of floods.flatMap(({ answers }) => [...answers()])) {
      counts[status] = (counts[status] ?? 0) + count
    }
    return counts
  }

  return {
    answered,
    faults: () => ('500' in answered() ? ['a hostile client was answered with 500'] : []),
    async stop() {
      isStopped = true
      await following
      floods.at(-1)?.stop()
    },
  }
}
