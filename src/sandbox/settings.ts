import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StandInSymbol } from '../simulator/index.js'

/** The equities that the local broker trades and the local chain lists. */
export const EQUITIES: readonly StandInSymbol[] = [
  { symbol: 'AAPL', name: 'Apple Inc. Common Stock', price: '212.40' },
  { symbol: 'AMZN', name: 'Amazon.com, Inc. Common Stock', price: '198.15' },
  { symbol: 'MSFT', name: 'Microsoft Corporation Common Stock', price: '431.20' },
  { symbol: 'NVDA', name: 'NVIDIA Corporation Common Stock', price: '141.90' },
  { symbol: 'TSLA', name: 'Tesla, Inc. Common Stock', price: '251.05' },
]

/** The institution that the sandbox founds. */
export const INSTITUTION = 'Example Capital'
/** USDC in each employee's wallet at the start, in base units. */
export const EMPLOYEE_USDC = 50_000_000_000n
/** USD in the enclave's account at the broker. */
export const BROKER_CASH = '1000000'
/** In the sandbox a rotation takes effect at once, a pause lasts an hour, and leaving takes a minute. */
export const DELAYS = { rotation: 0, pause: 3_600, leave: 60 }
/** Seconds between blocks. */
export const BLOCK_TIME = 1
/** The same while no transaction waits: each block stays in the chain's memory. */
export const IDLE_BLOCK_TIME = 4
/**
 * The chain keeps the states of the blocks that it mines in so many seconds while busy, and of so many at least. Each is a whole copy of
 * what is stored, 15 MB after a day. On a busy machine programs read up to six blocks back: with four states some of them failed.
 */
export const STATE_SECONDS = 8

/** Root of the checkout, reached alike from `src` and `dist`. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The build of the attested enclave that knows the sandbox's device. */
export const ATTESTED_ENCLAVE = join(ROOT, 'dist/sandbox/attestedEnclave.js')
/** The page, and the one that accepts evidence of the stand-in of a device. */
export const PAGES = { shipped: join(ROOT, 'dist/web'), test: join(ROOT, 'dist/sandbox/web') }

export interface SandboxOptions {
  /** Emptied at the start; holds the configuration, the server's DATA_DIR and its log. */
  directory: string
  /** 0 picks a free port. Without one for the desk, the page is not served. */
  ports: { server: number; rpc: number; broker: number; enclave?: number; desk?: number }
  /** Where the enclave's keys come from: files, which tests read (default), or the enclave itself, on the test device. */
  keys?: 'files' | 'born'
  /** Seconds until a rotation takes effect. Default: at once. */
  rotationDelay?: number
  /** Further variables for the programs' env files. */
  serverSettings?: Record<string, string>
  enclaveSettings?: Record<string, string>
  /** Seconds between blocks, perhaps a fraction, with or without transactions. Default: `BLOCK_TIME` and `IDLE_BLOCK_TIME`. */
  blockTime?: number
  /** The latest blocks whose states the chain keeps, where reorganizations go back further. */
  states?: number
  /** The interval of the price walk; without it, prices stay constant. */
  walkIntervalMs?: number
  /** Prints one line for the person at the terminal. */
  print: (line: string) => void
}

export type PrintStep = ReturnType<typeof stepsTo>

/** Wide enough for the longest step. */
const STEP_WIDTH = 14

/** Prints each step's text in a column beside its name; a step without a name continues the previous one. */
export function stepsTo(print: SandboxOptions['print']) {
  return (step: string, text: string) => print(`${step.padEnd(STEP_WIDTH)}${text}`)
}
