import { z } from 'zod'
import { blockCall, blockSchema, resultOf, toQuantity } from '../src/chain/jsonRpc.js'
import { createRpc, type Rpc } from '../src/chain/rpc.js'
import { type Config, readConfig } from '../src/server/config/config.js'
import { environmentSchema } from '../src/server/config/schema.js'
import { topicsOf, WATCHED } from '../src/server/narrator/events.js'
import { type Cursor, createCursorStore } from '../src/server/narrator/history.js'
import { buildNarrator, createNarratorProgress } from '../src/server/narrator/poll.js'
import type { Engine } from '../src/server/store/engine.js'
import { createLogger } from '../src/service/logger.js'
import { built } from '../test/support/built.js'
import { startTestChain } from '../test/support/chain.js'
import { chainEnvironment } from '../test/support/intakeServer.js'
import { SERVER_ENVIRONMENT } from '../test/support/serverEnvironment.js'
import { serveLeaseOf } from '../test/support/stores.js'
import { type Figure, ratio } from './support/figure.js'
import { emitOrders, newOrderIds } from './support/orders.js'
import { makeDirectory, noteSettings } from './support/platform.js'

const EVENTS_PER_BLOCK = 200
/** Blocks of one range: with 200 events in each, about the most that public nodes take. */
const RANGE = 25

/** The work of a reader: the events of the blocks from `from` + 1 to `to`. */
interface Task {
  readonly config: Config
  readonly rpc: Rpc
  readonly engine: Engine
  readonly from: number
  readonly to: number
}

/** `stop` is not measured. */
type Reading = { readonly events: number; stop(): Promise<void> }

/** The narrator as the server builds it, and a bare loop of `eth_getLogs` over the same ranges. */
export const narration: Figure = {
  name: 'narration',
  title: 'Catching up with events',
  async prepare(context) {
    const chain = await startTestChain()
    context.cleanUp.add(chain.stop)
    const { events } = context.options
    const from = await chain.provider.getBlockNumber()
    await emitOrders(chain.provider, 'open', {
      escrow: chain.addresses.orderEscrow,
      from: chain.account('relayer'),
      orderIds: newOrderIds(events),
      perBlock: EVENTS_PER_BLOCK,
    })
    const to = await chain.provider.getBlockNumber()
    const settings = { RPC_TIMEOUT: '60s', RPC_LOG_RANGE: `${RANGE}` }
    const variables = { ...SERVER_ENVIRONMENT, ...chainEnvironment(chain), READ_MAX_AGE: '', ...settings }
    noteSettings(context, 'server', environmentSchema, variables)
    const config = readConfig(variables)
    const { rpcUrls, rpcTimeoutMs: timeoutMs, chainId } = config.chain
    const rpc = createRpc({ urls: rpcUrls.reveal(), timeoutMs, chainId })
    const engine = await startSqlite(await makeDirectory(context, 'narration'))
    context.cleanUp.add(engine.stop)
    const turn = (read: (task: Task) => Promise<Reading>) => async () => {
      const startedAt = performance.now()
      const found = await read({ config, rpc, engine, from, to })
      const seconds = (performance.now() - startedAt) / 1_000
      await found.stop()
      if (found.events !== events) throw new Error(`${found.events} of ${events} events`)
      return { 'events/s': events / seconds }
    }
    return {
      rows: { ours: turn(narrate), bare: turn(readBare) },
      bars: [ratio('events/s', 'ours', 'bare', { atLeast: 0.8 })],
      notes: [
        `${events} events in ${to - from} blocks, ranges of ${RANGE} blocks, five queries in each request`,
      ],
    }
  },
}

/** SQLite as in the server: the thread that waits for the disk runs compiled code. */
async function startSqlite(directory: string): Promise<Engine> {
  const path = built('server/store/sqlite/sqliteEngine.js')
  const engines: typeof import('../src/server/store/sqlite/sqliteEngine.js') = await import(path)
  const onBroken = (error: Error) => {
    throw error
  }
  return engines.startSqlite({ directory, onBroken })
}

async function narrate({ config, rpc, engine, from, to }: Task): Promise<Reading> {
  const logger = createLogger({ level: 'warn' })
  await createCursorStore({ engine, logger }).save(await cursorAt(rpc, from))
  let events = 0
  const over = Promise.withResolvers<void>()
  const narrator = buildNarrator({
    ...{ config, rpc, logger, serveLease: serveLeaseOf(engine, logger) },
    output: {
      write(text, done) {
        for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) events++
        done()
      },
    },
    progress: {
      ...createNarratorProgress(),
      note: ({ block }) => block >= to && over.resolve(),
    },
  })
  await narrator.start()
  await over.promise
  return { events, stop: narrator.stop }
}

async function cursorAt(rpc: Rpc, number: number): Promise<Cursor> {
  const answers = await rpc.send([blockCall(0), blockCall(number)])
  const [genesis, start] = answers.map((answer) => resultOf(answer, blockSchema))
  if (genesis === undefined || start === undefined) throw new Error('the node has no such block')
  const block = { number, hash: start.hash }
  return { genesis: genesis.hash, start: block, blocks: [{ ...block, told: [] }] }
}

const answersSchema = z.array(z.looseObject({ result: z.array(z.unknown()) }))

/** The least that any reader can do: five queries in one request, and its answer parsed. */
async function readBare({ config: { chain }, from, to }: Task): Promise<Reading> {
  const [url = ''] = chain.rpcUrls.reveal()
  let events = 0
  for (let first = from + 1; first <= to; first += RANGE) {
    const span = { fromBlock: toQuantity(first), toBlock: toQuantity(Math.min(to, first + RANGE - 1)) }
    const calls = WATCHED.map((contract, id) => {
      const filter = { address: chain.contracts[contract], topics: [topicsOf(contract)], ...span }
      return { jsonrpc: '2.0', id, method: 'eth_getLogs', params: [filter] }
    })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(calls) })
    for (const { result } of answersSchema.parse(await response.json())) events += result.length
  }
  return { events, stop: async () => undefined }
}
