// Clients that post rulebooks without pause, each from an address of its own.
import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Envelope } from '../../../src/protocol/envelope.js'
import { bytesToHex, type Hex } from '../../../src/protocol/hex.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'

export const randomHex = (length: number): Hex => bytesToHex(randomBytes(length))
/** A point is costly to make: this one is used again and again. */
const epk = publicKeyOf(randomBytes(32))

/** Random bytes in the shape of an envelope: it takes a run of the enclave to find that no key opens them. */
export const junk = (bytes = 512): Envelope => ({
  epk,
  iv: randomHex(12),
  ct: randomHex(bytes),
  tag: randomHex(16),
})

/** The most open requests of one client. */
const OPEN_REQUESTS = 4

/** The loopback addresses 127.0.0.2, 127.0.0.3 and so on. */
export function loopbackAddresses(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `127.0.0.${index + 2}`)
}

/**
 * Each client has some requests open at a time, more than its share of any queue, and opens the next one when one is
 * answered. So a slow machine slows the attack down too, instead of piling up requests that nothing has read yet.
 */
export function startJunkPosters({
  url,
  addresses,
  postsPerSecond,
  body,
}: {
  readonly url: string
  /** Loopback addresses: each is one client to the server. */
  readonly addresses: readonly string[]
  /** The most of each client. */
  readonly postsPerSecond: number
  /** A body that the server has not seen. */
  readonly body: () => object
}) {
  const counts = new Map<number | 'none', number>()
  const phone = new AbortController()
  setMaxListeners(addresses.length * OPEN_REQUESTS * 2, phone.signal)

  function post(localAddress: string): Promise<number | 'none'> {
    const headers = { 'content-type': 'application/json' }
    const options = { method: 'POST', headers, localAddress, signal: phone.signal, agent: false }
    return new Promise((resolve) => {
      const call = request(`${url}/policy`, options, (response) => {
        response.resume()
        response.on('close', () => resolve(response.statusCode ?? 'none'))
      })
      call.on('error', () => resolve('none'))
      call.end(JSON.stringify(body()))
    })
  }

  async function postOn(localAddress: string): Promise<void> {
    while (!phone.signal.aborted) {
      const status = await post(localAddress)
      counts.set(status, (counts.get(status) ?? 0) + 1)
      await sleep((1_000 * OPEN_REQUESTS) / postsPerSecond)
    }
  }

  for (const address of addresses) {
    for (let n = 0; n < OPEN_REQUESTS; n++) void postOn(address)
  }
  return {
    /** The answers to the posts so far, counted by status. */
    answers: (): ReadonlyMap<number | 'none', number> => counts,
    /** Hangs up and posts no more. */
    stop: () => phone.abort(),
  }
}

export type JunkPosters = ReturnType<typeof startJunkPosters>
