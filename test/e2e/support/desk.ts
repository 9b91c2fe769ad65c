// A whole sandbox for one test file: the real server, enclave, chain and broker stand-in as they run for a person.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { createContracts, createUsdc } from '../../../src/chain/contracts.js'
import { clientOf, publishDefaultRulebook } from '../../../src/sandbox/demo.js'
import { startSandbox } from '../../../src/sandbox/sandbox.js'
import type { SandboxOptions } from '../../../src/sandbox/settings.js'
import { QUICK } from '../../support/tradingSandbox.js'
import { handEnclaveOver, killEnclaves } from './enclaveProcesses.js'
import { checkInvariants } from './invariants.js'
import type { Recorder } from './recorder.js'
import { createTrader } from './trader.js'

/** One institution's desk: three employees, their admin, and the platform around them. */
export type Desk = Awaited<ReturnType<typeof openDesk>>

type DeskOptions = Pick<SandboxOptions, 'serverSettings' | 'enclaveSettings'> & {
  /** The server starts the enclave, in place of the sandbox. */
  enclave?: 'server'
  /** Clients and enclave reach the server through it. */
  recorder?: Recorder
}

const START_TIMEOUT_MS = 240_000
/** Of each program's log, where the desk does not open. */
const LAST_LINES = 12

/**
 * A desk for a test file, with a rulebook that also lets shares be withdrawn; to be used inside of tests and hooks. The money of the
 * whole platform is checked after each test.
 */
export function useDesk(options: DeskOptions = {}): () => Desk {
  let desk: Desk | undefined
  let directory: string | undefined
  const current = (): Desk => {
    if (!desk) throw new Error('the desk opens before the first test, not before')
    return desk
  }
  const open = async (root: string, lines: string[]) => {
    desk = await openDesk(root, options, lines)
  }
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'desk-'))
    const lines: string[] = []
    const late = sleep(START_TIMEOUT_MS, 'late', { ref: false })
    if ((await Promise.race([open(directory, lines), late])) !== 'late') return
    const logs = await Promise.all(['server.log', 'enclave.log'].map(lastLines(directory)))
    throw new Error(['the desk did not open; it came as far as this:', ...lines, ...logs].join('\n'))
  }, 2 * START_TIMEOUT_MS)
  afterEach(() => checkInvariants(current()))
  afterAll(async () => {
    await desk?.sandbox.stop()
    if (desk && options.enclave) await killEnclaves(desk.sandbox)
    if (directory) await rm(directory, { recursive: true, force: true })
  })
  return current
}

const lastLines = (directory: string) => async (name: string) => {
  const text = await readFile(join(directory, name), 'utf8').catch(() => 'none')
  return [`${name}:`, ...text.trimEnd().split('\n').slice(-LAST_LINES)].join('\n')
}

async function openDesk(directory: string, options: DeskOptions, lines: string[]) {
  const { recorder, enclave, ...settings } = options
  const started = await startSandbox({
    ...settings,
    blockTime: QUICK.blockTime,
    serverSettings: { ...QUICK.server, ...settings.serverSettings },
    enclaveSettings: {
      ...QUICK.enclave,
      ...(recorder && { RELAY_URL: recorder.url }),
      ...settings.enclaveSettings,
    },
    directory,
    ports: { server: 0, rpc: 0, broker: 0 },
    print: (line) => lines.push(line),
  })
  if (enclave) await handEnclaveOver(started)
  recorder?.forwardTo(started.info.url)
  const sandbox = recorder ? { ...started, info: { ...started.info, url: recorder.url } } : started
  const contracts = createContracts(sandbox.provider, sandbox.info.contracts)
  const usdc = createUsdc(sandbox.provider, sandbox.info.contracts.usdc)
  const [first, second, third] = sandbox.accounts.employees
  const trader = (account: typeof first) => createTrader({ sandbox, contracts, usdc }, account)
  const traders = [trader(first), trader(second), trader(third)] as const
  lines.push('the sandbox is up')
  return {
    sandbox,
    contracts,
    usdc,
    admin: clientOf(sandbox, sandbox.accounts.admin),
    traders,
    /** The rulebook of version 1, as its publication returned it. */
    rulebook: await publishDefaultRulebook(sandbox),
    /** The time of the last block in Unix seconds. */
    async chainTime() {
      const block = await sandbox.provider.getBlock('latest')
      if (!block) throw new Error('the chain has no block')
      return block.timestamp
    },
    /** The lines that the server and the narration have printed so far. */
    lines: (): readonly string[] => lines,
  }
}
