import { once } from 'node:events'
import type { Command } from 'commander'
import * as z from 'zod'
import { ROLES } from '../chain/contracts.js'
import { interfaces } from '../chain/interfaces.js'
import { blockCall, blockSchema, resultOf } from '../chain/jsonRpc.js'
import type { ChainLog } from '../chain/logReader.js'
import { createViewCaller } from '../chain/views.js'
import { bytes32Schema, ZERO_BYTES32 } from '../protocol/hex.js'
import { bytes32ToName } from '../protocol/identifiers.js'
import { everyContract, type Narration, narrationOf } from '../server/narrator/events.js'
import { createPrinter } from '../server/narrator/lines.js'
import { type Cursor, createNarratorProgress, createNarratorTick } from '../server/narrator/poll.js'
import { createPoller } from '../service/lifetime.js'
import type { LogFields } from '../service/logger.js'
import { parsedBy } from '../terminal/arguments.js'
import { usage } from '../terminal/failure.js'
import { type Chain, connectChain } from './chain.js'
import { addCommand, type CommonOptions, createSpeech, type OperateProcess } from './io.js'
import { readDeployment } from './settings.js'

const INTERVAL_MS = 2_000
/** Blocks of one query; fewer where a node refuses so many. */
const LOG_RANGE = 2_000

interface WatchOptions extends CommonOptions {
  readonly from?: number
}

/** Adds the command that follows every event of the contracts. */
export function addWatch(root: Command, process: OperateProcess): void {
  const block = parsedBy(z.coerce.number<string>().pipe(z.int('expected the number of a block').min(0)))
  addCommand(root, 'watch', 'prints every event of the contracts, one line each, until Ctrl-C')
    .option('--from <block>', 'begins with this block, such as the firstBlock of deployment.json', block)
    .action((options: WatchOptions) => watch(process, options))
}

async function watch(process: OperateProcess, options: WatchOptions): Promise<void> {
  const { chainId, contracts } = readDeployment(options.directory)
  const speech = createSpeech(process, options)
  const note = (message: string, { errorName }: LogFields = {}) =>
    speech.say(errorName === undefined ? message : `${message}: ${errorName}`)
  const logger = { debug: () => undefined, info: () => undefined, warn: note, error: note }
  using chain = await connectChain(process.env, chainId)
  const { from } = options
  const start = from === undefined ? undefined : await before(chain, from)
  const { out } = process
  const write = (text: string, done: () => void) => out.write(text, done)
  const mayColour = process.env.NO_COLOR === undefined
  const print = createPrinter(
    { isTTY: out.isTTY === true, hasColors: () => out.hasColors?.() === true, write },
    { format: options.json === true ? 'json' : 'text', mayColour },
  )
  const ended = process.untilEnded()
  const tick = createNarratorTick({
    watched: () => everyContract(createViewCaller(chain.rpc), contracts),
    ...{ rpc: chain.rpc, logRange: LOG_RANGE, confirmations: 1, narrate: detailed },
    // A watch remembers nothing once it has ended.
    cursors: { load: async () => start, save: async () => undefined },
    ...{ print, progress: createNarratorProgress(), stopping: ended, logger },
  })
  const poller = createPoller({ name: 'watch', intervalMs: INTERVAL_MS, tick, logger })
  await poller.start()
  if (!ended.aborted) await once(ended, 'abort')
  await poller.stop()
}

/** The cursor of a narration whose last block was the one before; the genesis block has no events. */
async function before({ rpc }: Pick<Chain, 'rpc'>, from: number): Promise<Cursor> {
  const [answer] = await rpc.send([blockCall(Math.max(0, from - 1))])
  const block = resultOf(answer, z.nullable(blockSchema))
  if (block === null) throw usage(`the chain has no block ${from} yet`)
  const start = { number: block.number, hash: block.hash }
  return { genesis: null, start, blocks: [{ ...start, told: [] }] }
}

/** The enums of the contracts, by the fields that have them. */
const ENUMS: Readonly<Record<string, readonly string[]>> = {
  role: ROLES,
  kind: ['split', 'stock dividend', 'entitlement', 'payment', 'symbol change', 'removal'],
}

/** The narration of a log with its other fields, by their names: who and what, and where on the chain. */
function detailed(log: ChainLog): Narration | null {
  const narration = narrationOf(log)
  const { topics, data, blockNumber, txHash } = log
  const parsed = Object.values(interfaces)
    .map((each) => each.parseLog({ topics, data }))
    .find((each) => each !== null)
  if (narration === null || parsed === undefined) return null
  const details: Record<string, string> = {}
  // The fields of a struct stand beside the others.
  const fields = parsed.fragment.inputs.flatMap((input) => input.components ?? input)
  const values = parsed.args.toArray(true).flat()
  for (const [index, { name, type }] of fields.entries()) {
    const text = String(values[index])
    const isShown = narration.values.some((value) => value.name === name)
    if (isShown || text === ZERO_BYTES32) continue
    details[name] = (type === 'uint8' ? ENUMS[name]?.[Number(text)] : nameIn(text)) ?? text
  }
  return { ...narration, details: { ...details, block: String(blockNumber), tx: txHash } }
}

/** The institution or symbol that 32 bytes name; null for a hash, which is printed as it is. */
function nameIn(text: string): string | null {
  const { data } = bytes32Schema.safeParse(text)
  return data === undefined ? null : bytes32ToName(data)
}
