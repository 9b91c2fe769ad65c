// What an operator can do with the state directory of an attested enclave, which is his.
import { chmod, copyFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import { MachineError } from '../../../src/enclave/attested/machine.js'
import { createSealedKeys } from '../../../src/enclave/attested/sealedKeys.js'
import { lock, unlock } from '../../../src/enclave/attested/secretBox.js'
import { objectionTo } from '../../../src/enclave/attested/standing.js'
import { createSharedChain } from '../../../src/enclave/chainState.js'
import { systemClock } from '../../../src/enclave/clock.js'
import { deriveKeys, drawMaster } from '../../../src/enclave/keys/born.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { useChain } from '../../support/chain.js'
import { createLogLines } from '../../support/logLines.js'
import { rpcOf } from '../../support/tappedRpc.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const DELAY = 86_400
const chain = useChain(undefined, { delays: { rotation: DELAY }, enclaveSigner: null })

const bytes32 = (digits: string): Hex => `0x${digits.repeat(32)}`
const MEASUREMENT = bytes32('07')
const [FIRST, SECOND] = [bytes32('c1'), bytes32('c2')]

const SECRETS = { master: drawMaster(), brokerKeys: { keyId: 'PK', secretKey: 'secret' } }
const { signal } = new AbortController()
const QUICK = { chainAgainMs: 1, deviceAgainMs: 1 }

async function useState() {
  const directory = await temporaryDirectory()
  const key = drawMaster()
  const device = { failures: 0, isFree: Promise.resolve() }
  async function answer(tool: string): Promise<void> {
    await device.isFree
    if (device.failures-- > 0) throw new MachineError('tool-late', tool)
  }
  /** Hardware that keeps a key for this program alone. */
  const sealing = {
    async seal(secret: Uint8Array<ArrayBuffer>) {
      await answer('tpm2_create')
      return lock(key, secret)
    },
    async unseal(sealed: Uint8Array<ArrayBuffer>) {
      await answer('tpm2_unseal')
      return unlock(key, sealed)
    },
  }
  const { logger, text, lines } = createLogLines()
  return {
    file: join(directory, 'sealed-keys'),
    ...{ log: text, lines, device },
    startedWith: (configuration: Hex, objection: () => Promise<string | undefined> = async () => undefined) =>
      createSealedKeys({ directory, machine: { sealing }, configuration, objection, times: QUICK, logger }),
  }
}

it('the operator starts a withdrawn configuration again from its old file: what clients seal since does not open, and no contract takes its signer', async () => {
  const { file, startedWith, lines } = await useState()
  await startedWith(FIRST).save(SECRETS, signal)
  await copyFile(file, `${file}.kept`)
  // Holders agree to other settings.
  expect(await startedWith(SECOND).load(signal)).toBeUndefined()
  expect(lines()).toMatchObject([{ msg: 'sealed keys not opened', reason: 'wrong-configuration' }])
  await startedWith(SECOND).save(SECRETS, signal)
  const inForce = deriveKeys(SECRETS.master, { measurement: MEASUREMENT, config: SECOND })

  await copyFile(`${file}.kept`, file)
  const { master } =
    (await startedWith(FIRST).load(signal)) ?? expect.fail('it opens for its own configuration')
  const { intent, signing } = deriveKeys(master, { measurement: MEASUREMENT, config: FIRST })
  expect(intent).not.toBe(inForce.intent)
  expect(signing).not.toBe(inForce.signing)
})

it('the operator starts a program again that was replaced, or revoked for a hole: it opens nothing, and waits for people', async () => {
  const { startedWith, log } = await useState()
  const { addresses, anvil } = chain()
  const options = { depth: 0, maxHeadAgeMs: Number.MAX_SAFE_INTEGER, pollMs: 10, clock: systemClock }
  const shared = createSharedChain({ rpc: rpcOf(chain()), chainId: anvil.chainId, addresses, ...options })
  const own = { measurement: MEASUREMENT, config: FIRST }
  const keys = startedWith(FIRST, () => objectionTo(own, shared.forRun()))
  const opens = async () => (await keys.load(signal)) !== undefined
  const name = (digits: string, measurement: Hex, config: Hex) =>
    chain().send('owner', 'authority', 'rotateSigner', `0x${digits.repeat(20)}`, measurement, config)
  const afterDelay = async () =>
    chain().mineAt(((await chain().provider.getBlock('latest'))?.timestamp ?? 0) + DELAY)
  await keys.save(SECRETS, signal)

  expect(await opens()).toBe(true)
  await name('a1', MEASUREMENT, FIRST)
  expect(await opens()).toBe(true)
  await name('a2', MEASUREMENT, SECOND)
  expect(await opens()).toBe(true)
  await afterDelay()
  expect(await opens()).toBe(false)
  expect(log()).toContain('"reason":"unannounced-program"')
  // Back to it, with everybody's knowledge.
  await name('a1', MEASUREMENT, FIRST)
  expect(await opens()).toBe(true)
  await chain().send('guardian', 'authority', 'revokeMeasurement', MEASUREMENT)
  expect(await opens()).toBe(false)
  expect(log()).toContain('"reason":"revoked-program"')
})

it('a restart while the nodes are down needs no holder: its keys open once the nodes answer', async () => {
  const { startedWith } = await useState()
  let isDown = true
  const keys = startedWith(FIRST, async () => {
    if (!isDown) return undefined
    isDown = false
    throw new ChainUnavailableError(2)
  })
  await keys.save(SECRETS, signal)
  expect(await keys.load(signal)).toEqual(SECRETS)
})

it('a device that is busy at the start is asked again, and no holder is: half a minute long, and the file stays', async () => {
  const { startedWith, lines, device, file } = await useState()
  const keys = startedWith(FIRST)
  await keys.save(SECRETS, signal)
  device.failures = 6
  expect(await keys.load(signal)).toEqual(SECRETS)
  device.failures = 7
  expect(await keys.load(signal)).toBeUndefined()
  expect(await keys.load(signal)).toEqual(SECRETS)
  // What another program sealed is not tried again.
  const { length: told } = lines()
  await writeFile(file, await lock(drawMaster(), new Uint8Array(32)))
  expect(await keys.load(signal)).toBeUndefined()
  expect(lines().slice(told)).toMatchObject([{ msg: 'sealed keys not opened', code: 'undecryptable' }])
})

it('a device that is busy when keys are to be sealed is asked again, and the enclave begins after ten seconds at most', async () => {
  const { startedWith, device, file } = await useState()
  const keys = startedWith(FIRST)
  device.failures = 6
  await keys.save(SECRETS, signal)
  expect(await keys.load(signal)).toEqual(SECRETS)
  await rm(file)
  const { promise, resolve } = Promise.withResolvers<void>()
  device.isFree = promise
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const saving = keys.save(SECRETS, signal)
  vi.advanceTimersByTime(10_000)
  vi.useRealTimers()
  await saving
  expect(await keys.load(signal)).toBeUndefined()
  resolve()
  await vi.waitFor(async () => expect(await keys.load(signal)).toEqual(SECRETS))
})

it('a file that others may read, that is empty or whose end is missing has one code', async () => {
  const { startedWith, lines, file } = await useState()
  const keys = startedWith(FIRST)
  await keys.save(SECRETS, signal)
  await chmod(file, 0o644)
  expect(await keys.load(signal)).toBeUndefined()
  await chmod(file, 0o600)
  for (const content of ['', 'short']) {
    await writeFile(file, content)
    expect(await keys.load(signal)).toBeUndefined()
  }
  const unreadable = { msg: 'sealed keys not opened', code: 'sealed-unreadable' }
  expect(lines()).toMatchObject([unreadable, unreadable, unreadable])
})
