// `npm run sandbox -- --servers 3`: whichever server is killed, the trade goes on.
import { expect, onTestFinished, test } from 'vitest'
import { clientOf, publishDefaultRulebook } from '../../src/sandbox/demo.js'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { eventually } from '../support/eventually.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const POLL = { pollMs: 250 }

async function buy(sandbox: Sandbox): Promise<string | undefined> {
  const client = clientOf(sandbox, sandbox.accounts.employees[0])
  const deadline = Math.floor(Date.now() / 1_000) + 3_600
  const { order } = await client.placeOrder({ side: 'BUY', symbol: 'AAPL', maxSpend: 100_000_000n, deadline })
  let state: string | undefined
  for await (const status of client.followOrder(order.orderId, POLL)) state = status.state
  return state
}

test('trade goes on when the server that narrates is killed, and another one narrates', async () => {
  const lines: string[] = []
  const sandbox = await startSandbox({
    directory: await temporaryDirectory(),
    ports: { server: 0, rpc: 0, broker: 0 },
    servers: 3,
    serverSettings: { LEASE_TTL: '2s' },
    print: (line) => lines.push(line),
  })
  onTestFinished(() => sandbox.stop())
  /** The number of the server that has taken the lease last. */
  const holderOf = (lease: string) =>
    lines.flatMap((line) => new RegExp(`^server (\\d) +took the lease ${lease}`).exec(line)?.[1] ?? []).at(-1)
  const narratedBy = (number: string | undefined) =>
    lines.filter((line) => line.startsWith(`  ${number}│`)).length

  await publishDefaultRulebook(sandbox)
  expect(await buy(sandbox)).toBe('SETTLED')
  const first = await eventually('a narrator', () => holderOf('narrator'))
  await eventually('its lines', () => narratedBy(first) > 0)
  const dead = sandbox.servers[Number(first) - 1]?.current()
  process.kill(dead?.pid ?? 0, 'SIGKILL')
  await eventually('its end', () =>
    lines.includes(`server ${first}      process ${dead?.pid} has ended; the others go on`),
  )
  expect(await buy(sandbox)).toBe('SETTLED')
  const second = await eventually(
    'another narrator',
    () => holderOf('narrator') !== first && holderOf('narrator'),
  )
  await eventually('its lines', () => narratedBy(second) > 0)
})
