import { onTestFinished } from 'vitest'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { createRpc } from '../../../src/chain/rpc.js'
import type { NarratorOutput } from '../../../src/server/narrator/lines.js'
import {
  buildNarrator,
  createNarratorProgress,
  type NarratorProgress,
} from '../../../src/server/narrator/poll.js'
import { createLifetime } from '../../../src/service/lifetime.js'
import type { TestChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { openBuy, usd } from '../../support/institution.js'
import { chainEnvironment } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { serverConfig } from '../../support/serverEnvironment.js'
import { storedText } from '../../support/storedRows.js'
import { createFailingEngine, openStores, serveLeaseOf } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

export type NarratorUnderTest = Awaited<ReturnType<typeof startNarrator>>

export interface NarratorTestOptions {
  readonly chain: TestChain
  readonly dataDir: string
  /** Default: the chain's own. */
  readonly rpcUrl?: string
  readonly env?: Record<string, string>
  readonly progress?: NarratorProgress
  /** Takes every line; default: at once. */
  readonly reader?: Promise<void>
  /** Its output; default: one that is no terminal. */
  readonly output?: Omit<NarratorOutput, 'write'>
}

/** The narrator as the server builds it, polling a real chain every few milliseconds. */
export async function startNarrator(options: NarratorTestOptions) {
  const { chain, dataDir, rpcUrl = chain.anvil.rpcUrl, env = {}, reader = Promise.resolve() } = options
  const config = serverConfig({
    ...chainEnvironment(chain),
    RPC_URL: rpcUrl,
    RPC_TIMEOUT: '2s',
    NARRATOR_INTERVAL: '10ms',
    NARRATOR_FORMAT: 'text',
    ...env,
  })
  const log = createLogLines()
  const lines: string[] = []
  const { engine } = await openStores(dataDir)
  const { engine: failing, left } = createFailingEngine(engine)
  const { chainId, rpcTimeoutMs } = config.chain
  const rpc = createRpc({
    urls: config.chain.rpcUrls.reveal(),
    timeoutMs: rpcTimeoutMs,
    chainId,
  })
  /** How often it has begun to ask for the head: once in each tick. */
  let polls = 0
  const { send } = rpc
  rpc.send = (calls, signal) => {
    if (calls.some(({ params }) => params[0] === 'latest')) polls++
    return send(calls, signal)
  }
  const write = (text: string, done: () => void) => {
    lines.push(...text.split('\n').slice(0, -1))
    void reader.then(done)
  }
  const output = { ...options.output, write }
  const lifetime = createLifetime(
    [
      buildNarrator({
        progress: createNarratorProgress(),
        ...options,
        config,
        rpc,
        serveLease: serveLeaseOf(failing, log.logger),
        logger: log.logger,
        output,
      }),
    ],
    log.logger,
  )
  await lifetime.start()
  onTestFinished(lifetime.stop)
  return {
    /** The lines that it printed so far. */
    ...{ lines, dataDir, log, engine },
    /** Reads and writes of its stores that are refused next. */
    ...{ left, polls: () => polls, stop: lifetime.stop },
  }
}

/** Resolves when the stored cursor is at that block, and what led to it is printed. */
export async function cursorAt(narrator: NarratorUnderTest, block: number): Promise<void> {
  await eventually(`cursor at block ${block}`, () => cursorOf(narrator.dataDir) === block)
  // The lines are printed a moment after the cursor is there, before the next tick.
  await furtherPolls(narrator, 1)
}

/** The last narrated block; -1 before the first one. */
export function cursorOf(dataDir: string): number {
  return Number(/.*"number":(\d+)/s.exec(storedText(dataDir, 'state', 'narrator') ?? '')?.[1] ?? -1)
}

/** Resolves when at least one whole tick has begun and ended, so that what should not be printed would have been. */
export async function severalTicks(narrator: NarratorUnderTest): Promise<void> {
  await furtherPolls(narrator, 4)
}

async function furtherPolls({ polls }: NarratorUnderTest, count: number): Promise<void> {
  const before = polls()
  await eventually(`${count} further polls`, () => polls() >= before + count)
}

/** A line without its time. */
export function untimed(line: string): string {
  return line.replace(/^\S+ +/, '')
}

/** The narration so far, in order: whole USDC, negative where retracted, and `reset`; NaN for a line without an amount. */
export function told(lines: readonly string[]): (number | 'reset')[] {
  return lines.map((line) => {
    if (line.includes('[chain] reset')) return 'reset'
    const amount = Number(/(\d+)\.00 USDC/.exec(line)?.[1])
    return line.includes('retracted: ') ? -amount : amount
  })
}

/** Acts on the chain that narrators poll. */
export function actsOn(chain: () => TestChain) {
  const head = () => chain().provider.getBlockNumber()
  const caughtUp = async (narrator: NarratorUnderTest) => cursorAt(narrator, await head())
  return {
    /** Opens buys of so many USDC, one block each. */
    async buys(...amounts: number[]): Promise<void> {
      for (const amount of amounts) await openBuy(chain(), 'alice', `buy of ${amount}`, usd(amount))
    },
    mine: (blocks: number): Promise<unknown> => chain().provider.send('anvil_mine', [toQuantity(blocks)]),
    snapshot: (): Promise<unknown> => chain().provider.send('evm_snapshot', []),
    revert: (to: unknown): Promise<unknown> => chain().provider.send('evm_revert', [to]),
    block: (number: string): Promise<unknown> =>
      chain().provider.send('eth_getBlockByNumber', [number, false]),
    head,
    /** Resolves when the narrator is at the head, and what led to it is printed. */
    caughtUp,
    /** A narrator of a new data directory that has taken note of the head as it is now. */
    async atHead(options: Partial<NarratorTestOptions> = {}): Promise<NarratorUnderTest> {
      const narrator = await startNarrator({
        chain: chain(),
        dataDir: await temporaryDirectory(),
        ...options,
      })
      await caughtUp(narrator)
      return narrator
    },
  }
}
