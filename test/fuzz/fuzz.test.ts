import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { SERVER_ACCOUNT } from '../support/brokerStandIn.js'
import { startTestChain, type TestChain } from '../support/chain.js'
import { keyOf } from '../support/openings.js'
import { REPEAT, SEED } from '../support/seed.js'
import { RUN_SECRET, SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { storedRows } from '../support/storedRows.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { type Answer, carryOut } from './connection.js'
import { judge } from './judge.js'
import { type Held, startPrograms } from './programs.js'
import { anyExchange, type Exchange } from './requests.js'
import type { Service } from './routes.js'
import { createWorld, FUZZED_ORDER } from './world.js'

const A_PUSH = 1_500
/** About so many. The night sends more, to find small leaks: see .ci/run. */
const EXCHANGES = z.coerce.number().int().positive().default(A_PUSH).parse(process.env.EXCHANGES)
/** A push sends the same ones each time, as its storm keeps one plan; the night draws others. */
const FIRST = EXCHANGES > A_PUSH || process.env.SEED !== undefined ? SEED : 1
const AT_ONCE = 24
/** Exchanges between two readings of what the server holds. */
const ROUND = 1_500
const PER_EXCHANGE_MS = 60
/** Resources that may be held at the end beyond those after the first round. A busy server keeps more idle connections to its node. */
const MORE = { handles: 6, descriptors: 24 }
/**
 * The growth that the heap in use may have from the third quarter of the rounds to the last: bytes in all, because two readings of the same
 * server differ, and bytes for each exchange between.
 */
const LATE_GROWTH = { bytes: 2 ** 20, each: 2 }
/** Problems of a run that has been triggered. */
const OF_A_RUN = /"code":"(policy|resolution)-rejected"/

test('every request, right or wrong, has a documented answer, and a refused one leaves no trace and spends nothing', {
  timeout: 300_000 + EXCHANGES * PER_EXCHANGE_MS,
}, async () => {
  const chain = await startTestChain()
  onTestFinished(() => chain.stop())
  const world = await createWorld(chain)
  const first = await chain.provider.getBlockNumber()
  const { programs, dataDir, runsFile } = await startPrograms(chain, await temporaryDirectory())
  const secrets = [
    ...[RUN_SECRET, SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN, SERVER_ACCOUNT.secretKey],
    ...[keyOf(chain, 'relayer'), keyOf(chain, 'relayer').slice(2)],
  ]
  const seen = new Set<string>()
  /** Every hex text of the exchanges that were not refused as a whole. */
  const accepted = new Set<string>([FUZZED_ORDER])
  const held: Record<Service, Held[]> = { server: [], enclave: [] }

  /** The first example of each fault. */
  const wrong = new Map<string, string>()

  async function check(one: Exchange): Promise<void> {
    const bytes = one.bytes.toString('latin1')
    const note = (fault: string, answer = '') => {
      if (!wrong.has(fault)) wrong.set(fault, `${answer} to ${JSON.stringify(bytes.slice(0, 2_000))}`)
    }
    const answer = await carryOut(programs[one.to].port, one).catch((error: Error) => error)
    if (answer instanceof Error) return note(answer.message)
    if (answer !== undefined) {
      const code = answer.status < 400 ? '' : ` ${/"code":"([a-z-]+)"/.exec(answer.body)?.[1]}`
      seen.add(`${one.to} ${answer.status}${code}`)
      const leaked = secrets.some((secret) => answer.body.includes(secret)) ? 'a secret' : undefined
      const fault = leaked ?? judge(one.to, answer, one.request)
      if (fault !== undefined) note(fault, answer.body)
    }
    // Bytes that were damaged, or left, may have been carried out.
    if (one.ending === 'answer' && answer !== undefined && isRefusal(answer)) return
    for (const [hex] of bytes.matchAll(/0x[0-9a-f]+/gi)) accepted.add(hex.toLowerCase())
  }

  const exchange = fc.oneof(
    { weight: 9, arbitrary: anyExchange('server', world) },
    { weight: 1, arbitrary: anyExchange('enclave', world) },
  )
  const faults = () => [...programs.server.faults(), ...programs.enclave.faults()]
  for (let sent = 0; sent < EXCHANGES && faults().length === 0; sent += ROUND) {
    const queue = fc.sample(exchange, { seed: FIRST + sent, numRuns: ROUND }).values()
    const send = async () => {
      for (const one of queue) await check(one)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, send))
    for (const name of ['server', 'enclave'] as const) held[name].push(await programs[name].held())
  }
  expect([...wrong, ...faults()], REPEAT).toEqual([])

  expect([...seen]).toEqual(
    expect.arrayContaining([
      ...['server 200', 'server 202', 'server 400 malformed-request', 'server 401 run-unauthorized'],
      ...['server 422 would-revert', 'enclave 202', 'enclave 400 invalid-body', 'enclave 422 run-too-late'],
    ]),
  )
  expect([growthOf(held.server), growthOf(held.enclave)]).toEqual([[], []])
  expect([await programs.server.stop(), await programs.enclave.stop()]).toEqual([0, 0])
  const log = programs.server.log() + programs.enclave.log()
  const rows = (['orders', 'cancels'] as const).flatMap((table) => storedRows(dataDir, table))
  const runs = (await readFile(runsFile, 'utf8')).split('\n').slice(0, -1)
  const sealed = runs.map((line) => /"ct":"(0x[0-9a-f]*)"/.exec(line)?.[1] ?? FUZZED_ORDER)
  const calls = await callsOfRelayer(chain, first)
  expect({
    logged: secrets.filter((secret) => log.includes(secret)),
    stored: rows.filter(({ id }) => !accepted.has(id)),
    triggered: sealed.filter((ct) => !accepted.has(ct)),
    spent: calls.filter((data) => !isSigned(data, accepted)),
  }).toEqual({ logged: [], stored: [], triggered: [], spent: [] })
})

function isRefusal({ status, body }: Answer): boolean {
  return status >= 400 && status < 500 && !OF_A_RUN.test(body)
}

/** The data of the transactions that the relayer has sent since. */
async function callsOfRelayer({ provider, account }: TestChain, since: number): Promise<string[]> {
  const calls: string[] = []
  for (let number = since + 1; number <= (await provider.getBlockNumber()); number++) {
    const block = await provider.getBlock(number, true)
    const sent = block?.prefetchedTransactions.filter(({ from }) => from === account('relayer')) ?? []
    calls.push(...sent.map(({ data }) => data))
  }
  return calls
}

/** Whether it carries a signature out of these hex texts. */
function isSigned(data: string, texts: ReadonlySet<string>): boolean {
  return [...texts].some((text) => text.length === 132 && data.includes(text.slice(2)))
}

/** Resources with excess growth. */
function growthOf(held: readonly Held[]): string[] {
  if (held.length < 4) return []
  const grown = (['handles', 'descriptors'] as const).filter(
    (name) => (held.at(-1)?.[name] ?? 0) - (held[0]?.[name] ?? 0) > MORE[name],
  )
  // The least of several readings counts, because any one may come before a collection.
  const half = held.slice(Math.ceil(held.length / 2)).map(({ heapUsed }) => heapUsed)
  const quarter = Math.floor(half.length / 2)
  const more = Math.min(...half.slice(-quarter)) - Math.min(...half.slice(0, quarter))
  const between = (EXCHANGES * (half.length - quarter)) / held.length
  const isLate = more > LATE_GROWTH.bytes + LATE_GROWTH.each * between
  return [...grown, ...(isLate ? [`the heap still grows in the second half: by ${more} bytes`] : [])]
}
