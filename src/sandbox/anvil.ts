import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { HDNodeWallet, JsonRpcProvider } from 'ethers'
import * as z from 'zod'
import type { Hex } from '../protocol/hex.js'
import { endProcess, killWithParent } from './killWithParent.js'

/** The well-known phrase of local development chains. Its accounts must not hold value anywhere else. */
const PHRASE = 'test test test test test test test test test test test junk'
/** Anvil's own. */
const CHAIN_ID = 31_337
const STOP_TIMEOUT_MS = 2_000
const POLLING_MS = 50
/** As many as a full node of Ethereum keeps. */
const STATES = 128
/**
 * One arena of memory, and free pages returned after a second: an order took anvil 40 kB in place of 55. Without caches of threads it held
 * 45 MiB in place of 53 after 2,000 transactions of 32 slots each.
 */
const ALLOCATOR = { _RJEM_MALLOC_CONF: 'narenas:1,tcache:false,dirty_decay_ms:1000,muzzy_decay_ms:0' }
/**
 * Keeps anvil from mining blocks of its own between those that are mined for it: where it mines more often than each third second,
 * anvil 1.7 keeps 1,500 states, whatever `--prune-history` says.
 */
const A_DAY_SECONDS = 86_400

export interface AnvilOptions {
  /** Default: a free one. */
  port?: number
  /** The latest blocks whose states are kept, in memory alone. All blocks, transactions, receipts and logs are kept. Default: 128. */
  states?: number
  /** Further arguments of the program, e.g. `['--auto-impersonate']`. */
  args?: string[]
}

export type Anvil = Awaited<ReturnType<typeof startAnvil>>

/**
 * Starts a local chain on 127.0.0.1 and resolves when it answers. It ends with `stop()`, or with this process, even if
 * that is killed. Like mainnet, it limits code size and gas per transaction (EIP-7825). It writes no file: by default anvil
 * writes old states to the user's home, without a bound that a day of blocks reaches, and leaves them there when it is killed.
 * @throws Error with the program's own message if it cannot start, e.g. because the port is taken
 */
export async function startAnvil(options: AnvilOptions = {}) {
  const { port = 0, states = STATES } = options
  const args = ['--port', `${port}`, '--accounts', '10']
  args.push('--mnemonic', PHRASE, '--enable-tx-gas-limit', '--prune-history', `${states}`)
  const env = { ...process.env, ...ALLOCATOR }
  const program = foundryProgram('anvil')
  const child = spawn(program, [...args, ...(options.args ?? [])], { stdio: ['ignore', 'pipe', 'pipe'], env })
  killWithParent(child)
  const rpcUrl = await listening(child)
  const ending = new AbortController()
  const uncached = { staticNetwork: true, cacheTimeout: -1, batchStallTime: 0 }
  const provider = new JsonRpcProvider(rpcUrl, CHAIN_ID, { ...uncached, pollingInterval: POLLING_MS })

  return {
    rpcUrl,
    chainId: CHAIN_ID,
    /** Sees new blocks quickly. */
    provider,
    /** Seconds between blocks, and while no transaction waits. Until then every transaction is mined at once in its own block. */
    async mineEvery(blockTime: number, idleTime = 0): Promise<void> {
      await provider.send('evm_setIntervalMining', [A_DAY_SECONDS])
      void keepMining(provider, blockTime * 1_000, idleTime * 1_000, ending.signal)
    },
    /** Funded with 10,000 ETH each. */
    accounts: derive(),
    pid: child.pid ?? 0,
    /** Ends the process and resolves when it has exited. */
    async stop(): Promise<void> {
      ending.abort()
      provider.destroy()
      await endProcess(child, STOP_TIMEOUT_MS)
    },
  }
}

/** A program itself rather than its package's launcher, through which no signal comes, and no exit code. */
export function foundryProgram(name: 'anvil' | 'forge'): string {
  const packages = createRequire(createRequire(import.meta.url).resolve(`@foundry-rs/${name}/package.json`))
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const suffix = process.platform === 'win32' ? '.exe' : ''
  return packages.resolve(`@foundry-rs/${name}-${process.platform}-${arch}/bin/${name}${suffix}`)
}

/** Resolves with the URL that the program reports; the program may have chosen the port. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    let errors = ''
    child.stderr?.on('data', (chunk) => {
      errors = (errors + String(chunk)).slice(-2_000)
    })
    child.stdout?.on('data', function read(chunk) {
      output += String(chunk)
      const [, place] = /Listening on (\S+:\d+)/.exec(output) ?? []
      // Drains the pipe, because the program keeps logging.
      if (place) child.stdout?.off('data', read).resume()
      if (place) resolve(`http://${place}`)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`anvil exited with ${code}: ${errors.trim()}`)))
  })
}

const poolSchema = z.object({ pending: z.string().transform(Number) })

/**
 * Mines a block in each interval, or without transactions only `idleMs` after the last one, until the signal.
 * `evm_setIntervalMining` stops it, as it stops a node that mines by itself.
 */
async function keepMining(provider: JsonRpcProvider, everyMs: number, idleMs: number, signal: AbortSignal) {
  let dueAt = performance.now() + everyMs
  let minedAt = Number.NEGATIVE_INFINITY
  const isWanted = async () =>
    performance.now() - minedAt >= idleMs - everyMs / 2 ||
    poolSchema.parse(await provider.send('txpool_status', [])).pending > 0
  while (!signal.aborted) {
    try {
      await sleep(Math.max(0, dueAt - performance.now()), undefined, { signal })
      const interval: unknown = await provider.send('anvil_getIntervalMining', [])
      if (interval === A_DAY_SECONDS && (await isWanted())) {
        minedAt = performance.now()
        await provider.send('evm_mine', [])
      }
    } catch {
      // The node has ended, or is about to: its user sees that.
    }
    // A late block is followed by one in time.
    dueAt = Math.max(dueAt + everyMs, performance.now())
  }
}

function derive() {
  const root = HDNodeWallet.fromPhrase(PHRASE, '', "m/44'/60'/0'/0")
  const at = (index: number): { address: Hex; privateKey: Hex } => {
    const { address, privateKey } = root.deriveChild(index)
    return { address: `0x${address.slice(2)}`, privateKey: `0x${privateKey.slice(2)}` }
  }
  return [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9)] as const
}
