// Actor: a stranger who shares the enclave's address: both are on one machine, or behind one gateway or proxy.
// Cost: 128 connections and a hundred requests over the rate.
// Effect: the connection cap, the rate and the shares are those of an address. They refused the enclave before its token was seen:
// no authorization was carried, no result of a run was taken, and each run ended relay-unavailable after its requests to the broker.
// 120 orders that honest clients posted at once from that address did the same by themselves.
// Now: what the enclave sends has a port of its own, which no stranger reaches, and where the token counts instead of the address.
// A run that does not reach that port asks the broker for nothing.
import { expect, it, onTestFinished } from 'vitest'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { useDesk } from '../e2e/support/desk.js'
import { eventually } from '../support/eventually.js'
import { startFlood, wire } from '../support/flood.js'

/** The enclave's own. */
const ADDRESS = '127.0.0.1'
const PER_CLIENT = 128
const DEPTH = 10
const HALF_AN_HOUR_MS = 1_800_000

const desk = useDesk({
  serverSettings: {
    // The stranger does not hurry, and the machine of the tests may be slow.
    REQUEST_TIMEOUT: '3m',
    MAX_CONNECTIONS: String(3 * PER_CLIENT),
  },
})

it('an order settles while a stranger at the enclave’s address takes all that one client may have', async () => {
  const { sandbox, contracts, traders } = desk()
  const { info, broker, secrets } = sandbox
  const [alice] = traders
  broker.clock({ open: false, nextOpen: new Date(Date.now() + HALF_AN_HOUR_MS).toISOString() })
  const orderId = await alice.send({ side: 'BUY', symbol: 'AAPL', usdc: 100n * ONE_USDC })
  await alice.reaches(orderId, 'queued')

  const flood = startFlood({
    url: info.url,
    localAddress: ADDRESS,
    connections: PER_CLIENT + 20,
    depth: DEPTH,
    request: () => wire('GET', '/enclave-key'),
    reconnects: true,
  })
  onTestFinished(() => flood.stop())
  const look = async (url: string) => {
    const headers = { authorization: `Bearer ${secrets.relayAuthToken}`, connection: 'close' }
    const answer = await fetch(`${url}/relay/${ZERO_BYTES32}`, { headers }).catch(() => undefined)
    return answer?.status ?? 'closed'
  }
  await eventually(
    'the public port to close a connection from there',
    async () => (await look(info.url)) === 'closed',
  )

  broker.clock({ open: true })
  await eventually('the order to be settled', async () => {
    const { state } = await contracts.escrow.orders(orderId)
    return state === 'SETTLED'
  })
  expect(await look(info.relayUrl)).toBe(404)
  expect(await look(info.url)).toBe('closed')
})
