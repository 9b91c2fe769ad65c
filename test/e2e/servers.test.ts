// Three servers on one database behind a balancer: whichever is killed, the trade goes on.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { clientOf, publishDefaultRulebook } from '../../src/sandbox/demo.js'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { startProcess } from '../../src/sandbox/serverProcess.js'
import { startBalancer } from '../support/balancer.js'
import { eventually } from '../support/eventually.js'
import { freePorts } from '../support/freePorts.js'
import { startPostgres } from '../support/postgres.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const POLL = { pollMs: 250 }
const at = (port: number | string) => `http://127.0.0.1:${port}`

async function buy(sandbox: Sandbox): Promise<string | undefined> {
  const client = clientOf(sandbox, sandbox.accounts.employees[0])
  const deadline = Math.floor(Date.now() / 1_000) + 3_600
  const { order } = await client.placeOrder({ side: 'BUY', symbol: 'AAPL', usdc: 100_000_000n, deadline })
  let state: string | undefined
  for await (const status of client.listOrderStatuses(order.orderId, POLL)) state = status.state
  return state
}

/** Another server with the sandbox's configuration. */
async function startAnother(directory: string, [PORT, OPS_PORT, RELAY_PORT]: readonly string[], log: string) {
  const [url, relayUrl] = [at(PORT ?? ''), at(RELAY_PORT ?? '')]
  const variables = { PORT: PORT ?? '', OPS_PORT: OPS_PORT ?? '', RELAY_PORT: RELAY_PORT ?? '' }
  const launch = () => startProcess('server', { directory, url, log, variables })
  let server = await launch()
  onTestFinished(() => server.stop())
  const restart = async () => {
    server = await launch()
  }
  return { current: () => server, restart, log, url, relayUrl }
}

const leaseTakenSchema = z.object({ time: z.string(), msg: z.literal('lease taken'), recordId: z.string() })

test('trade goes on whichever server is killed', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.remove())
  const [entrance = 0, relayEntrance = 0, ...ports] = await freePorts(8)
  const directory = await temporaryDirectory()
  const first = await startSandbox({
    directory,
    ports: { server: 0, rpc: 0, broker: 0 },
    serverSettings: {
      DATABASE_URL: (await postgres.createDatabase()).reveal(),
      TRUST_PROXY: '1',
      LEASE_TTL: '2s',
    },
    enclaveSettings: { RELAY_URL: at(relayEntrance) },
    print: () => undefined,
  })
  onTestFinished(() => first.stop())
  const { url, relayUrl } = first.info
  const servers = [
    { current: first.server, restart: first.restartServer, log: 'server.log', url, relayUrl },
    await startAnother(directory, ports.slice(0, 3).map(String), 'server-2.log'),
    await startAnother(directory, ports.slice(3).map(String), 'server-3.log'),
  ]
  for (const balancer of [
    await startBalancer(
      entrance,
      servers.map((server) => server.url),
    ),
    await startBalancer(
      relayEntrance,
      servers.map((server) => server.relayUrl),
    ),
  ])
    onTestFinished(() => balancer.stop())
  const sandbox = { ...first, info: { ...first.info, url: at(entrance) } }

  const linesOf = async (log: string) => (await readFile(join(directory, log), 'utf8')).split('\n')
  /** The server that has taken the lease last. */
  const holderOf = (lease: string) =>
    eventually(`a holder of ${lease}`, async () => {
      const taken = await Promise.all(
        servers.map(async (server) =>
          (await linesOf(server.log))
            .filter((line) => line.includes('"lease taken"'))
            .map((line) => leaseTakenSchema.parse(JSON.parse(line)))
            .filter(({ recordId }) => recordId.startsWith(lease))
            .map(({ time }) => ({ time, server })),
        ),
      )
      return taken
        .flat()
        .toSorted((a, b) => a.time.localeCompare(b.time))
        .at(-1)?.server
    })

  await publishDefaultRulebook(sandbox)
  expect(await buy(sandbox)).toBe('SETTLED')
  for (const lease of ['narrator', 'trigger', 'relayer:']) {
    const holder = await holderOf(lease)
    await holder.current().kill()
    expect(await buy(sandbox)).toBe('SETTLED')
    expect(await holderOf(lease)).not.toBe(holder)
    await holder.restart()
  }
  await eventually('lines of the last narrator', async () =>
    (await linesOf((await holderOf('narrator')).log)).some((line) => line.includes('[escrow] order settled')),
  )
})
