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

test('trade goes on whichever server is killed', async () => {
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
    eventually(`a holder of ${lease}`, () =>
      lines
        .flatMap((line) => new RegExp(`^server (\\d) +took the lease ${lease}`).exec(line)?.[1] ?? [])
        .at(-1),
    )
  const narrated = (number: string) => lines.filter((line) => line.startsWith(`  ${number}│`)).length

  await publishDefaultRulebook(sandbox)
  expect(await buy(sandbox)).toBe('SETTLED')
  for (const lease of ['narrator', 'trigger', 'relayer:']) {
    const number = await holderOf(lease)
    const server = sandbox.servers[Number(number) - 1]
    const pid = server?.current().pid ?? 0
    process.kill(pid, 'SIGKILL')
    await eventually('its end', () =>
      lines.includes(`server ${number}      process ${pid} has ended; the others continue`),
    )
    expect(await buy(sandbox)).toBe('SETTLED')
    const next = await holderOf(lease)
    expect(next).not.toBe(number)
    await server?.restart()
  }
  await eventually('lines of the last narrator', async () => narrated(await holderOf('narrator')) > 0)
}, 180_000)
