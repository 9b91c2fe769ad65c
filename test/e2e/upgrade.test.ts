// Another attested program, as docs/operations/every-day.md has it, with a kill -9 at each step, while people trade.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { expect, it, onTestFinished } from 'vitest'
import type { Measurements } from '../../src/attestation/index.js'
import { type AcceptedProgram, measurementOf } from '../../src/attestation/policy.js'
import { createStartingVerifier } from '../../src/attestation/starting.js'
import { BORN } from '../../src/attestation/statement.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { createClient, toTradingError } from '../../src/client/index.js'
import { enclaveKeySchema } from '../../src/protocol/enclaveKey.js'
import { enclaveReportSchema } from '../../src/protocol/finding.js'
import { bytesToHex, type Hex } from '../../src/protocol/hex.js'
import { compressPoint } from '../../src/protocol/publicKey.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import { policyOf } from '../../src/sandbox/attested.js'
import { publishDefaultRulebook } from '../../src/sandbox/demo.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { startProcess, untilOk } from '../../src/sandbox/serverProcess.js'
import { ATTESTED_ENCLAVE } from '../../src/sandbox/settings.js'
import { startBorn } from '../support/attestedEnclaves.js'
import { eventually } from '../support/eventually.js'
import { freePorts } from '../support/freePorts.js'
import { operate } from '../support/operate.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

/** Seconds: the former enclave is killed, comes back and is stopped before the next one is in force. */
const DELAY = 90
const LIFETIME = 3_600
const BLOCKS_BETWEEN_ORDERS = 8
/** What the policies of holders, owner and clients call the two programs. */
const FORMER = '0.2.0'
const NEXT = '0.3.0'

type Born = Awaited<ReturnType<typeof startBorn>>

const labelled = (label: string, programs: readonly AcceptedProgram[]) =>
  programs.map((program) => ({ ...program, label }))

const healthOf = async (url: string) => (await fetch(`${url}/health`)).json()

/** The next release: the built program with a byte more, in a state directory of its own. */
async function startNext({ sandbox, attested }: Born) {
  const directory = await temporaryDirectory()
  const main = join(directory, 'attestedEnclave.mjs')
  await writeFile(main, `${await readFile(ATTESTED_ENCLAVE, 'utf8')}\n`)
  const [port] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const [former] = attested.programs
  const formerProgram = `${await measurementOf('pcrs', former?.pcrs ?? {})}:${former?.configuration}`
  const text = await readFile(join(sandbox.directory, '.env.enclave'), 'utf8')
  const settings = text
    .replace(/^ENCLAVE_LISTEN=.*$/m, `ENCLAVE_LISTEN=127.0.0.1:${port}`)
    .replace(/^ENCLAVE_STATE_DIR=.*$/m, `ENCLAVE_STATE_DIR=${directory}/state`)
  const envFile = join(directory, '.env.enclave')
  await writeFile(envFile, `${settings}\nFORMER_PROGRAMS=${formerProgram}\n`, { mode: 0o600 })
  const variables = { SANDBOX_DEVICE: attested.device }
  const launch = () => startProcess('enclave', { directory, url, main, variables })
  let running = await launch()
  onTestFinished(() => running.kill())
  return {
    url,
    directory,
    programs: labelled(NEXT, await policyOf(directory, main)),
    async killAndStart() {
      await running.kill()
      running = await launch()
    },
  }
}

/** The people's commands, which trust the sandbox's root. */
function createDesk({ sandbox, attested }: Born) {
  const { directory, info, accounts, secrets } = sandbox
  const verifyBorn = createVerifier(BORN, attested.root, 'test')
  const env = {
    RPC_URL: info.rpcUrl,
    OWNER_PRIVATE_KEY: accounts.owner.privateKey,
    ENCLAVE_TRIGGER_SECRET: secrets.triggerSecret,
  }
  const file = (name: string) => join(directory, name)
  return {
    verifyBorn,
    file,
    async write(name: string, value: unknown) {
      await writeFile(file(name), typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 })
      return file(name)
    },
    async run(...args: string[]) {
      const verify = createStartingVerifier(attested.root, 'test')
      const all = [...args, '--directory', directory]
      const done = await operate(all, { env, verify, verifyBorn })
      expect(done, done.err).toMatchObject({ exit: 0 })
      return done.out
    },
  }
}

/**
 * Places an order at every few blocks, come what may. While the one server is down, nothing is signed, and she tries again; so she does while
 * as many orders wait as an account may have open.
 */
function keepTrading(sandbox: Sandbox, buy: () => Promise<Hex>) {
  async function blocksPass(): Promise<void> {
    const from = await sandbox.provider.getBlockNumber()
    await eventually(
      'blocks pass',
      async () => (await sandbox.provider.getBlockNumber()) >= from + BLOCKS_BETWEEN_ORDERS,
    )
  }
  async function place(): Promise<Hex> {
    try {
      return await buy()
    } catch (error) {
      const { code } = toTradingError(error)
      if (code === 'server-unreachable') await untilOk(`${sandbox.info.url}/health`)
      else if (code === 'TooManyOpenOrders') await blocksPass()
      else throw error
      return place()
    }
  }
  const placed: Hex[] = []
  let isOver = false
  const trading = (async () => {
    while (!isOver) {
      placed.push(await place())
      await blocksPass()
    }
  })()
  // The end of the test says it, if it fails.
  trading.catch(() => undefined)
  return async () => {
    isOver = true
    await trading
    return placed
  }
}

it('a next program takes over while people trade, whatever is killed, and no order waits for a person', async () => {
  const born = await startBorn({ rotationDelay: DELAY })
  const { sandbox, attested, url: formerUrl } = born
  const { info, accounts, provider } = sandbox
  const { verifyBorn, file, write, run } = createDesk(born)
  await publishDefaultRulebook(sandbox)
  const next = await startNext(born)
  const formerPrograms = labelled(FORMER, attested.programs)
  const programs = [...formerPrograms, ...next.programs]
  const measurements: Measurements = (shown, expected) => verifyBorn(shown, { ...expected, programs })
  const clientFor = (account: SandboxAccount) =>
    createClient({
      serverUrl: info.url,
      wallet: new Wallet(account.privateKey, provider),
      pins: { escrow: info.contracts.orderEscrow },
      measurements,
    })
  const [trader, waiting, patient] = accounts.employees.map(clientFor)
  if (!trader || !waiting || !patient) throw new Error('too few employees')
  await Promise.all([trader, waiting, patient].map((client) => client.unlock()))
  const buy = async (client: typeof trader, order: object = {}): Promise<Hex> => {
    const { timestamp = 0 } = (await provider.getBlock('latest')) ?? {}
    const common = { side: 'BUY', symbol: 'AAPL', usdc: 100n * ONE_USDC } as const
    const placed = await client.placeOrder({ ...common, deadline: timestamp + LIFETIME, ...order })
    return placed.order.orderId
  }
  const shownKey = async () => enclaveKeySchema.parse(await (await fetch(`${info.url}/enclave-key`)).json())
  const restartServer = async () => {
    await sandbox.server().kill()
    await sandbox.restartServer()
  }
  const former = await shownKey()
  const stopTrading = keepTrading(sandbox, () => buy(trader))

  // It rests at the broker over the change.
  const limit = { price: 300n * ONE_USDC, timeInForce: 'GTD' }
  const resting = await buy(patient, { symbol: 'MSFT', limit })
  await eventually('the broker has the limit order', () =>
    sandbox.broker.orders().some(({ symbol }) => symbol === 'MSFT'),
  )

  // The next enclave waits for its keys; the server knows both.
  await next.killAndStart()
  const settings = await readFile(file('.env'), 'utf8')
  await write('.env', settings.replace(/^ENCLAVE_URL=.*$/m, `ENCLAVE_URL=${formerUrl},${next.url}`))
  await restartServer()

  // Two of three holders give it their shares.
  const [policy, nextPolicy] = [
    await write('policy.json', formerPrograms),
    await write('next.json', next.programs),
  ]
  const shares = file('shares.json')
  const { keyId, secretKey } = sandbox.secrets.enclaveBroker
  const brokerKeys = await write('broker.json', { keyId, secretKey })
  const holders = await Promise.all(
    attested.holders.slice(0, 2).map(async (key, index) => {
      const keyFile = await write(`holder${index}.key`, key)
      const share = file(`holder${index}.share`)
      const own = ['--key-file', keyFile, '--yes']
      await run('attest', 'accept', '--shares', shares, '--policy', policy, '--out', share, ...own)
      return ['--share', share, ...own, ...(index === 0 ? ['--broker-keys', brokerKeys] : [])]
    }),
  )
  const at = ['--enclave-url', next.url, '--policy', nextPolicy]
  const provision = (holder: string[] = []) => run('attest', 'provision', ...at, ...holder, '--next')
  expect(await provision(holders[0])).toContain('waits for the next holder')
  await next.killAndStart()
  expect(await provision(holders[1])).toContain('waits for the next holder')
  expect(await provision(holders[0])).toContain('has its keys')
  const { signer } = await healthOf(next.url)

  // It reports before anything changes: that it opens what the former one wrote, and whom the owner is to name.
  const report = file('report.json')
  await run('attest', 'report', '--enclave-url', next.url, '--key-file', file('holder0.key'), '--out', report)
  const { facts, findings } = enclaveReportSchema.parse(JSON.parse(await readFile(report, 'utf8')))
  expect(findings.filter(({ result }) => result === 'fault')).toMatchObject([
    { check: 'enclave-signer', text: expect.stringContaining(`signer ${signer}`) },
  ])
  expect(findings).toContainEqual(expect.objectContaining({ check: 'master-key', result: 'ok' }))
  expect(facts?.signer).toBe(signer)

  // The owner rotates by the evidence of the enclave itself, and the server shows both keys.
  expect(await run('signer', ...at, '--yes')).toContain('done: signer')
  await next.killAndStart()
  expect(await healthOf(next.url)).toMatchObject({ keys: 'present', boot: 4, signer })
  const announced = await eventually('the next key is shown', async () => {
    const key = await shownKey()
    return key.next?.publicKey && key
  })
  expect(announced).toMatchObject({ publicKey: former.publicKey, next: { signer } })
  expect(announced.next?.publicKey && bytesToHex(compressPoint(announced.next.publicKey))).toBe(
    facts?.intentPublicKey,
  )
  const { evidence } = await trader.getPlatform()
  expect(evidence).toMatchObject({ verified: { label: FORMER }, next: { verified: { label: NEXT } } })

  // Until then the former one is in force: it is killed, then the next one, then the server.
  await sandbox.enclave().kill()
  await next.killAndStart()
  await restartServer()
  await eventually('the former enclave is back', async () => {
    const health = await healthOf(formerUrl).catch(() => undefined)
    return health?.keys === 'present'
  })
  // It ends for good before its time, so what is sealed to its key now is run by the next one alone.
  await sandbox.enclave().stop()
  const sealedBefore = await buy(waiting)
  expect(await shownKey()).toMatchObject({ publicKey: former.publicKey })

  const changed = await eventually(
    'the next enclave is in force',
    async () => {
      const key = await shownKey()
      return key.publicKey !== former.publicKey && key
    },
    2 * DELAY * 1_000,
  )
  expect(changed).toMatchObject({ publicKey: announced.next?.publicKey })
  expect(changed.next).toBeUndefined()
  expect((await trader.getPlatform()).evidence).toMatchObject({ verified: { label: NEXT } })
  await next.killAndStart()
  sandbox.broker.price({ symbol: 'MSFT', price: '290.00' })
  const sealedAfter = await buy(waiting)
  const orders = [...(await stopTrading()), resting, sealedBefore, sealedAfter]
  for (const orderId of orders)
    await eventually(
      `order ${orderId} settles`,
      async () => (await trader.getOrder(orderId)).state === 'SETTLED',
    )

  // Whom it takes no more is left out, and the books are those of the broker.
  await write('.env', settings.replace(/^ENCLAVE_URL=.*$/m, `ENCLAVE_URL=${next.url}`))
  await restartServer()
  const last = await buy(trader)
  await eventually('a last order settles', async () => (await trader.getOrder(last)).state === 'SETTLED')
  expect(sandbox.broker.orders().filter(({ account }) => account === 'enclave')).toHaveLength(
    orders.length + 1,
  )
  const out = await run('invariants', '--enclave-url', next.url, '--holder-key-file', file('holder0.key'))
  expect(out).not.toContain('fault')
}, 900_000)
