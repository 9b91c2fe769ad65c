// docs/first-trade.md, typed as it stands: on a plain chain, with a broker that is only known by its URL.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { JsonRpcProvider, parseEther } from 'ethers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { feeScheduleText } from '../../src/protocol/fees.js'
import { type Anvil, startAnvil } from '../../src/sandbox/anvil.js'
import { deployTestUsdc } from '../../src/sandbox/localChain.js'
import { type BrokerStandIn, startBrokerStandIn } from '../../src/simulator/index.js'
import { INTERFACES } from '../support/chain.js'
import { freePorts } from '../support/freePorts.js'

const PAGE = resolve('docs/first-trade.md')
const CHAIN_ID = 424_242
const LIMIT_MS = 600_000
const ONE_USDC = 1_000_000n

/** A step of the page: commands, their output, or something that its reader does outside the terminal. */
interface Step {
  readonly kind: 'type' | 'terminal' | 'output' | 'outside'
  readonly text: string
}

function stepsOf(page: string): Step[] {
  const found = page.matchAll(/^```(sh terminal|sh|text)\n([\s\S]*?)^```$|^<!-- outside: (.*) -->$/gm)
  return [...found].map(([, fence, text = '', outside]) => {
    if (outside !== undefined) return { kind: 'outside', text: outside }
    if (fence === 'text') return { kind: 'output', text }
    return { kind: fence === 'sh' ? 'type' : 'terminal', text }
  })
}

/** A terminal: one shell, whose variables stay from block to block. */
function openTerminal(cwd: string, env: Record<string, string>) {
  const shell = spawn('bash', ['--noprofile', '--norc'], { cwd, env, detached: true })
  let printed = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      printed += part
    })
  }
  let blocks = 0
  return {
    shell,
    printed: () => printed,
    /** Begins a block that runs on. */
    start(block: string) {
      shell.stdin.end(block)
    },
    /** Runs a block to its end. @returns what it printed, and the status of its last command */
    async run(block: string): Promise<{ status: number; text: string }> {
      const [from, mark] = [printed.length, `@@ ${++blocks}`]
      const file = join(cwd, `block-${blocks}.sh`)
      // Each command ends the block if it fails, and none of them reads what the terminal reads next.
      await writeFile(file, `trap 'failed=$?' ERR\nfailed=0\n${block}\ntrap - ERR\n`)
      shell.stdin.write(`source ${file} </dev/null\necho "${mark} $failed"\n`)
      for (;;) {
        const end = new RegExp(`^${mark} (\\d+)$`, 'm').exec(printed.slice(from))
        if (end) return { status: Number(end[1]), text: printed.slice(from, from + end.index) }
        if (shell.exitCode !== null) throw new Error(`the shell ended: ${printed.slice(from)}`)
        await sleep(50)
      }
    },
  }
}

/** Lines of the page and of a terminal alike: one space between columns, hex as `0x…`. Any other `…` ends a line. */
function comparable(line: string): string {
  return line
    .replaceAll(String(CHAIN_ID), '11155111')
    .replace(/0x[0-9a-f]*…?/gi, '0x…')
    .replace(/(?<!0x)….*$/, '')
    .replace(/\s+/g, ' ')
    .trim()
}

let anvil: Anvil
let broker: BrokerStandIn
let provider: JsonRpcProvider
let directory: string
let usdc: string
const terminals: ChildProcess[] = []

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--chain-id', `${CHAIN_ID}`, '--slots-in-an-epoch', '1'] })
  await anvil.mineEvery(0.5)
  provider = new JsonRpcProvider(anvil.rpcUrl, CHAIN_ID, { staticNetwork: true })
  usdc = await deployTestUsdc(await provider.getSigner(0), provider)
  broker = await startBrokerStandIn({
    seed: 1,
    accounts: [
      { name: 'enclave', cash: '100000', keyId: 'PKENCLAVE', secretKey: 'enclave-secret' },
      { name: 'server', cash: '0', keyId: 'PKSERVER', secretKey: 'server-secret' },
    ],
    symbols: [
      { symbol: 'AAPL', name: 'Apple Inc. Common Stock', price: '212.40' },
      { symbol: 'MSFT', name: 'Microsoft Corporation Common Stock', price: '431.20' },
    ],
    fees: feeScheduleText.parse('none'),
  })
  directory = await mkdtemp(join(tmpdir(), 'first-trade-'))
  for (const name of ['package.json', 'node_modules', 'dist', 'scripts']) {
    await symlink(resolve(name), join(directory, name))
  }
}, LIMIT_MS)

afterAll(async () => {
  for (const { pid, exitCode } of terminals)
    if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL')
  await broker?.stop()
  provider?.destroy()
  await anvil?.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

/** The commands with the values that the page's reader fills in. */
function filledIn(block: string): string {
  const values: Record<string, string> = {
    RPC_URL: anvil.rpcUrl,
    ENCLAVE_RPC_URL: anvil.rpcUrl,
    CHAIN_ID: String(CHAIN_ID),
    USDC_ADDRESS: usdc,
    BROKER_FUNDING_ADDRESS: anvil.accounts[9]?.address ?? '',
    SERVER_KEY_ID: 'PKSERVER',
    SERVER_SECRET_KEY: 'server-secret',
    ENCLAVE_KEY_ID: 'PKENCLAVE',
    ENCLAVE_SECRET_KEY: 'enclave-secret',
  }
  return block.replace(/^export (\w+)=.*$/gm, (line, name: string) =>
    values[name] === undefined ? line : `export ${name}=${values[name]}`,
  )
}

/** A faucet. */
async function give(what: string | undefined, to: string): Promise<void> {
  const from = anvil.accounts[1]?.address
  const data = INTERFACES.usdc.encodeFunctionData('mint', [to, 20n * ONE_USDC])
  const transaction = what === 'ether' ? { to, value: parseEther('0.5') } : { to: usdc, data }
  const { hash } = await (await provider.getSigner(from)).sendTransaction(transaction)
  await provider.waitForTransaction(hash)
}

it(
  'docs/first-trade.md leads from a clone to a settled order and a doctor without a fault, typed as it stands',
  async () => {
    const steps = stepsOf(await readFile(PAGE, 'utf8'))
    // `npm test` has done the first step: each clone has the same build.
    expect(steps[0]).toEqual({ kind: 'type', text: 'npm ci\nnpm run -s build\n' })
    const [port = 0, opsPort = 0, relayPort = 0, enclavePort = 0] = await freePorts(4)
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: directory,
      PORT: String(port),
      OPS_PORT: String(opsPort),
      RELAY_PORT: String(relayPort),
      ENCLAVE_LISTEN: `127.0.0.1:${enclavePort}`,
      ALPACA_TRADING_URL: broker.url,
      ALPACA_DATA_URL: broker.url,
    }
    const open = () => {
      const terminal = openTerminal(directory, env)
      terminals.push(terminal.shell)
      return terminal
    }
    const first = open()
    let printed = ''
    for (const { kind, text } of steps.slice(1)) {
      if (kind === 'type') {
        if (text.includes('confidential-trading status')) await answering([port, enclavePort])
        const done = await first.run(filledIn(text))
        printed = done.text
        expect(done.status, `${text}\n${printed}`).toBe(0)
      } else if (kind === 'terminal') {
        open().start(text)
      } else if (kind === 'outside') {
        const [what, name = ''] = text.split(' ')
        const values = await first.run(`. secrets/public.env; echo "$${name}"`)
        await give(what, values.text.trim())
      } else {
        const lines = printed.split('\n').map(comparable)
        for (const line of text.trimEnd().split('\n')) {
          expect(
            lines.some((each) => each.startsWith(comparable(line))),
            `${line}\nis not in\n${printed}`,
          ).toBe(true)
        }
      }
    }
    expect(steps.length).toBeGreaterThan(25)
    expect(printed).not.toMatch(/^(?:fault|unchecked) /m)
    expect(broker.control.orders().map(({ symbol, status }) => ({ symbol, status }))).toEqual([
      { symbol: 'AAPL', status: 'filled' },
    ])
  },
  LIMIT_MS,
)

/** Waits until server and enclave take requests. */
async function answering(ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null)
      if (response?.ok) break
      const dead = terminals.slice(1).find(({ exitCode }) => exitCode !== null)
      if (dead) throw new Error('server or enclave ended')
      await sleep(100)
    }
  }
}
