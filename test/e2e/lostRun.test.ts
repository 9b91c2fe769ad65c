// A server loses its DATA_DIR while a run is under way. The run's enclave is paused between its look at the chain and its send.
// Another enclave, which shares nothing with the first one, refunds the order. A minute later the first one goes on,
// well before its own stopAt, with a look that is a minute old.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Interface } from 'ethers'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { sendAll } from '../../src/sandbox/transactions.js'
import { built } from '../support/built.js'
import { eventually } from '../support/eventually.js'
import { startHttpServer } from '../support/httpServer.js'
import { startProgram } from '../support/program.js'
import { useDesk } from './support/desk.js'
import { brokerOrder } from './support/trader.js'

const PAUSE_MS = 60_000
/** Dropped, so that the run looks and sends again. */
const LOST_SENDS = { method: 'POST', path: '/v2/orders', account: 'enclave', drop: 'before' } as const

/** Stands before the first enclave's node: `pauseAtNextLook` stops the enclave before it reads the answer. */
async function startNodeWire() {
  let target = ''
  let pid: number | undefined
  let isPaused = false
  const server = await startHttpServer((req, res) => {
    void (async () => {
      const body = await text(req)
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(target, { method: 'POST', headers, body })
      const content = await answer.text()
      if (pid !== undefined && body.includes('eth_call')) {
        process.kill(pid, 'SIGSTOP')
        pid = undefined
        isPaused = true
      }
      res.writeHead(answer.status, headers).end(content)
    })().catch(() => res.destroy())
  })
  return {
    ...server,
    forwardTo(url: string) {
      target = url
    },
    pauseAtNextLook(enclave: number) {
      pid = enclave
    },
    isPaused: () => isPaused,
  }
}

const node = await startNodeWire()
afterAll(() => node.stop())
/** The node has another address for the sandbox, which starts it, and for the first enclave. */
const desk = useDesk({
  enclaveSettings: { AMBIGUOUS_RETRY_AFTER: '3s', ABSENT_RECHECK_AFTER: '30s', RPC_URL: node.url },
  onChain: (rpcUrl) => node.forwardTo(rpcUrl),
})

it('an enclave that was paused for a minute does not buy what another one refunded', async () => {
  const [alice] = desk().traders
  const { sandbox, contracts } = desk()
  const account = accountIdOf(alice.account.address)
  const wallet = await alice.wallet()
  sandbox.broker.fault({ ...LOST_SENDS, times: 2 })
  const orderId = await alice.send({ side: 'BUY', symbol: 'AAPL', maxSpend: 200n * ONE_USDC })
  // The enclave's next look is then the one before its second send.
  const { broker } = sandbox
  await eventually('a lost send', () => broker.requests().some(({ outcome }) => outcome === 'dropped'))
  expect(await contracts.ledger.portfolioVersion(account)).toBe(1n)
  const first = sandbox.enclave()?.pid ?? 0
  node.pauseAtNextLook(first)
  await eventually('the pause', node.isPaused)
  const pausedAt = performance.now()
  expect(brokerOrder(sandbox, orderId)).toBeUndefined()

  const secondUrl = await startSecondEnclave()
  await sandbox.server().kill()
  await rm(join(sandbox.directory, 'server'), { recursive: true })
  await change(join(sandbox.directory, '.env'), /^ENCLAVE_URL=.*$/m, `ENCLAVE_URL=${secondUrl}`)
  await loseKyc(alice.account.address)
  await sandbox.restartServer()
  expect((await alice.ended(orderId)).state).toBe('REFUNDED')

  await sleep(pausedAt + PAUSE_MS - performance.now())
  sandbox.broker.clear({ what: 'faults' })
  process.kill(first, 'SIGCONT')
  await eventually(
    'the end of the first run',
    async () => (await runsAt(sandbox.info.enclaveUrl)) === 0,
    120_000,
  )
  expect(brokerOrder(sandbox, orderId)).toBeUndefined()
  expect(await alice.wallet()).toBe(wallet)
  expect((await alice.portfolio()).openOrders).toEqual({})
})

/** With the same keys, and a state directory of its own. Resolves with its URL. */
async function startSecondEnclave(): Promise<string> {
  const { directory, info } = desk().sandbox
  const path = join(directory, '.env.enclave-2')
  await writeFile(path, await readFile(join(directory, '.env.enclave')), { mode: 0o600 })
  await change(path, /^RPC_URL=.*$/m, `RPC_URL=${info.rpcUrl}`)
  await change(path, /^ENCLAVE_LISTEN=.*$/m, 'ENCLAVE_LISTEN=127.0.0.1:0')
  await change(path, /^ENCLAVE_STATE_DIR=.*$/m, `ENCLAVE_STATE_DIR=${join(directory, 'enclave-2')}`)
  const program = startProgram(built('enclave/main.js'), ['serve'], { env: { ENCLAVE_ENV_FILE: path } })
  const port = await eventually('the second enclave', () => /"port":(\d+)/.exec(program.err())?.[1])
  return `http://127.0.0.1:${port}`
}

async function change(path: string, pattern: RegExp, replacement: string): Promise<void> {
  await writeFile(path, (await readFile(path, 'utf8')).replace(pattern, replacement))
}

const healthSchema = z.object({ runs: z.int() })

async function runsAt(url: string | undefined): Promise<number> {
  const response = await fetch(`${url}/health`)
  return healthSchema.parse(await response.json()).runs
}

function loseKyc(address: `0x${string}`) {
  const { sandbox, contracts } = desk()
  const abi = new Interface(equityTokenAbi)
  const call = { to: contracts.token.address, abi, method: 'setKyc', args: [address, false] }
  return sendAll(sandbox.provider, sandbox.accounts.owner, [call])
}
