// Actor: a node that has no receipts, because of a fault or on purpose, and any client for which the relay sends transactions.
// Cost: nothing.
// Effect: after five seconds without a receipt the relay took a transaction for lost, and it counted gas by receipts alone. It used 9.87 M
// gas of a daily budget of 6 M, and refused nothing.
// Now: the relay counts a transaction at its gas limit when it sends it, and corrects that by the receipt. One whose receipt does not come
// within seconds stays counted at its limit: the budget runs out early, and is never exceeded.
import { expect, test } from 'vitest'
import { mine, startRelay } from '../server/relay/relayUnderTest.js'
import { batchMint } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { eventually } from '../support/eventually.js'
import { startFaultProxy } from '../support/faultProxy.js'
import { AAPL, setUpInstitution, shares } from '../support/institution.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { useUtcDay } from '../support/utcDay.js'
import { gasUsedSince } from './support/actors.js'

useUtcDay(90_000)
const chain = useChain(setUpInstitution)

const BUDGET = 600_000n
/** Far more than the budget pays for. */
const POSTS = 12

test('a node without receipts does not get more gas out of the relay than a day has', async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const relay = await startRelay({
    chain: chain(),
    dataDir: await temporaryDirectory(),
    rpcUrl: proxy.url,
    env: { RELAY_DAILY_GAS: String(BUDGET), RELAY_RESERVE: String(BUDGET / 100n) },
  })
  const before = await chain().provider.getBlockNumber()
  proxy.answer = ({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined)
  const codes: unknown[] = []
  for (let batch = 1n; batch <= POSTS; batch++) {
    const expectedSupply = shares(5) * (batch - 1n)
    const posted = relay.relay(batchMint(AAPL, shares(5), { batch, expectedSupply })).then((answer) => answer)
    // Blocks on top tell the relay at once that its nonce is used.
    const isAnswered = posted.then(() => true)
    await eventually('an answer', async () => {
      await mine(chain())
      return Promise.race([isAnswered, false])
    })
    const { body } = await posted
    codes.push(body.code ?? body.status)
    if (body.code !== undefined) break
  }
  expect(codes.slice(0, 2)).toEqual(['confirmed', 'confirmed'])
  expect(codes.at(-1)).toBe('relay-budget-exhausted')
  const used = await gasUsedSince(chain().provider, chain().account('relayer'), before)
  expect(used).toBeLessThanOrEqual(BUDGET)
})
