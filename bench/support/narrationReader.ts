// Reads the events of a chain when it is asked to: as the narrator, or in a bare loop.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { z } from 'zod'
import { RpcProvider } from '../../src/chain/provider.js'
import { toQuantity } from '../../src/chain/quantity.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { readConfig } from '../../src/server/config.js'
import { buildNarrator } from '../../src/server/narrator/build.js'
import { topicsOf, WATCHED } from '../../src/server/narrator/events.js'
import { type Cursor, createCursorStore } from '../../src/server/narrator/history.js'
import { createNarratorProgress } from '../../src/server/narrator/progress.js'
import { createServeLease, leaseTiming } from '../../src/server/store/leaseHolder.js'
import { openSqlite } from '../../src/server/store/sqlite/sqliteEngine.js'
import { createLogger } from '../../src/service/logger.js'
import { type NarrationAnswer, type NarrationTask, narrationTaskSchema } from './narrationTask.js'

const MIB = 2 ** 20
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

process.on('message', (message) => {
  void answer(narrationTaskSchema.parse(message)).then((found) => process.send?.(found))
})

function answer(task: NarrationTask): Promise<NarrationAnswer> {
  return task.way === 'ours' ? narrated(task) : read(task)
}

async function narrated(task: NarrationTask): Promise<NarrationAnswer> {
  const { env, dataDir, from, to, isFollowed } = task
  const config = readConfig({ ...env, DATA_DIR: dataDir, RPC_LOG_RANGE: `${task.range}` })
  const provider = new RpcProvider({
    urls: config.chain.rpcUrls.reveal(),
    timeoutMs: config.chain.rpcTimeoutMs,
    // The node is asked for its chain before its first use, which is no tick's request.
    chainId: config.chain.chainId,
  })
  await provider.transport.send([{ method: 'eth_chainId', params: [] }])
  const engine = openSqlite({ directory: dataDir, onBroken: fail })
  const logger = createLogger({ level: 'warn' })
  await createCursorStore({ engine, logger }).save(await cursorAt(provider, from))
  let events = 0
  let ticks = 0
  const heapMiB: number[] = []
  const startedAt = performance.now()
  const ms = await new Promise<number>((resolve) => {
    const narrator = buildNarrator({
      config,
      provider,
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
          resolve(performance.now() - startedAt)
          void narrator.stop()
        },
      },
    })
    void narrator.start()
  })
  provider.destroy()
  await engine.stop()
  return { ms, events, ticks, heapMiB }
}

const blockSchema = z.looseObject({ hash: bytes32Schema })

function fail(error: Error): never {
  throw error
}

async function cursorAt(provider: RpcProvider, number: number): Promise<Cursor> {
  const hashOf = async (block: number) =>
    blockSchema.parse(await provider.send('eth_getBlockByNumber', [toQuantity(block), false])).hash
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
