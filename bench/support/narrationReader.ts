// Reads the events of a chain, as the narrator or in a bare loop. A process of its own.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { z } from 'zod'
import { blockCall, blockSchema, resultOf, toQuantity } from '../../src/chain/jsonRpc.js'
import { createRpc, type Rpc } from '../../src/chain/rpc.js'
import { readConfig } from '../../src/server/config/config.js'
import { topicsOf, WATCHED } from '../../src/server/narrator/events.js'
import { type Cursor, createCursorStore } from '../../src/server/narrator/history.js'
import { buildNarrator, createNarratorProgress } from '../../src/server/narrator/poll.js'
import { createServeLease, leaseTiming } from '../../src/server/store/leaseHolder.js'
import { createLogger } from '../../src/service/logger.js'
import { built } from '../../test/support/built.js'
import { answerTasks } from './processes.js'

const taskSchema = z.strictObject({
  /** The narrator as the server builds it, or a bare loop of `eth_getLogs` over the same ranges. */
  way: z.enum(['ours', 'bare']),
  /** Settings of a server that would narrate this chain. */
  env: z.record(z.string(), z.string()),
  dataDir: z.string(),
  /** The block that it begins after, and the last one to read. */
  from: z.int(),
  to: z.int(),
  /** Blocks of one range. */
  range: z.int(),
  /** Whether memory is followed, which takes time. */
  isFollowed: z.boolean(),
})
export type NarrationTask = z.output<typeof taskSchema>

export interface NarrationAnswer {
  readonly ms: number
  readonly events: number
  readonly ticks: number
  readonly heapMiB: readonly number[]
}

const MIB = 2 ** 20
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

async function narrated(task: NarrationTask): Promise<NarrationAnswer> {
  const { env, dataDir, from, to, isFollowed } = task
  const config = readConfig({ ...env, DATA_DIR: dataDir, RPC_LOG_RANGE: `${task.range}` })
  const rpc = createRpc({
    urls: config.chain.rpcUrls.reveal(),
    timeoutMs: config.chain.rpcTimeoutMs,
    // The node is asked for its chain before its first use, which is no tick's request.
    chainId: config.chain.chainId,
  })
  await rpc.send([{ method: 'eth_chainId', params: [] }])
  // As the server has it: the thread that waits for the disk is another one.
  const sqlite: typeof import('../../src/server/store/sqlite/sqliteEngine.js') = await import(
    built('server/store/sqlite/sqliteEngine.js')
  )
  const engine = await sqlite.startSqlite({ directory: dataDir, onBroken: fail })
  const logger = createLogger({ level: 'warn' })
  await createCursorStore({ engine, logger }).save(await cursorAt(rpc, from))
  let events = 0
  let ticks = 0
  const heapMiB: number[] = []
  const startedAt = performance.now()
  const { ms, stop } = await new Promise<{ ms: number; stop: () => Promise<void> }>((resolve) => {
    const narrator = buildNarrator({
      config,
      rpc,
      serveLease: createServeLease({
        engine,
        holder: 'bench',
        timing: leaseTiming(config.leaseTtlMs),
        logger,
      }),
      logger,
      output: {
        write(text, done) {
          for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) events++
          done()
        },
      },
      progress: {
        ...createNarratorProgress(),
        note({ block }) {
          ticks++
          if (isFollowed) {
            collect()
            heapMiB.push(process.memoryUsage().heapUsed / MIB)
          }
          if (block < to) return
          resolve({ ms: performance.now() - startedAt, stop: () => narrator.stop() })
        },
      },
    })
    void narrator.start()
  })
  await stop()
  await engine.stop()
  return { ms, events, ticks, heapMiB }
}

function fail(error: Error): never {
  throw error
}

async function cursorAt(rpc: Pick<Rpc, 'send'>, number: number): Promise<Cursor> {
  const hashOf = async (block: number) => resultOf((await rpc.send([blockCall(block)]))[0], blockSchema).hash
  const start = { number, hash: await hashOf(number) }
  return { genesis: await hashOf(0), start, blocks: [{ ...start, told: [] }] }
}

const answersSchema = z.array(z.looseObject({ result: z.array(z.unknown()) }))

/** The least that anybody can do: five queries in one request, and its answer parsed. */
async function read({ env, from, to, range }: NarrationTask): Promise<NarrationAnswer> {
  const { chain } = readConfig(env)
  const [url = ''] = chain.rpcUrls.reveal()
  const startedAt = performance.now()
  let events = 0
  for (let first = from + 1; first <= to; first += range) {
    const span = { fromBlock: toQuantity(first), toBlock: toQuantity(Math.min(to, first + range - 1)) }
    const calls = WATCHED.map((contract, id) => {
      const filter = { address: chain.contracts[contract], topics: [topicsOf(contract)], ...span }
      return { jsonrpc: '2.0', id, method: 'eth_getLogs', params: [filter] }
    })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(calls) })
    for (const { result } of answersSchema.parse(await response.json())) events += result.length
  }
  return { ms: performance.now() - startedAt, events, ticks: 0, heapMiB: [] }
}

answerTasks(taskSchema, (task) => (task.way === 'ours' ? narrated(task) : read(task)))
