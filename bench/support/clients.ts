// Load from many clients: to a server, each loopback address is one.
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { UnpostedOrder } from './crowd.js'

const OCTET = 254

/** The address of a client by its number; numbers below 16 million differ. Programs themselves are at 127.0.0.1. */
export function loopbackOf(client: number): string {
  const last = 1 + (client % OCTET)
  const third = Math.floor(client / OCTET) % OCTET
  const second = 1 + (Math.floor(client / OCTET ** 2) % OCTET)
  return `127.${second}.${third}.${last}`
}

/** The wait after a refusal that names none. */
const PAUSE_S = 1

/**
 * Posts an order from a client's address, as the client library does: again after a refusal, when its `Retry-After` has passed.
 * Returns the number of refusals. @throws at any other answer
 */
export async function postFrom(client: number, url: string, { body }: UnpostedOrder): Promise<number> {
  for (let refusals = 0; ; refusals++) {
    const { status, answer, retryAfter } = await send('POST', `${url}/orders`, client, body)
    if (status === 202) return refusals
    if (status !== 429 && status !== 503) throw new Error(`POST /orders: ${status} ${answer}`)
    await sleep(1_000 * Number(retryAfter ?? PAUSE_S))
  }
}

/** The body at a URL, asked for by a client. @throws at any status but 200 */
export async function getFrom(client: number, url: string): Promise<string> {
  const { status, answer } = await send('GET', url, client)
  if (status !== 200) throw new Error(`GET ${url}: ${status} ${answer}`)
  return answer
}

async function send(method: 'GET' | 'POST', url: string, client: number, body = '') {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const options = { method, localAddress: loopbackOf(client), headers, agent: false }
  request(url, options, resolve).once('error', reject).end(body)
  const response = await promise
  return {
    status: response.statusCode,
    answer: await text(response),
    retryAfter: response.headers['retry-after'],
  }
}
