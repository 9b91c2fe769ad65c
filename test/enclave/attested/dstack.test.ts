// An enclave on a machine of dstack: what the agent and Intel answer becomes evidence, and keys stay with the program.
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { sha256 } from '../../../src/attestation/bytes.js'
import { judge } from '../../../src/attestation/judge.js'
import { BORN } from '../../../src/attestation/statement.js'
import { dstackBelow } from '../../../src/attestation/tdx/index.js'
import { createVerifier } from '../../../src/attestation/verify.js'
import { createDstack } from '../../../src/enclave/attested/dstack.js'
import type { Machine } from '../../../src/enclave/attested/machine.js'
import { type Bytes, bytesToHex, hexToBytes } from '../../../src/protocol/hex.js'
import { tdx } from '../../attestation/vectors.js'
import { type DstackMachine, LOCAL_PROVIDER, startDstack } from '../../support/dstackMachine.js'
import { CLOSED_URL, startRawServer } from '../../support/rawServer.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2027, 2, 1)
const NONCE = new Uint8Array(32).fill(7)
/** The number of its certificate. */
const PROCESSOR = 3
const SECRET = Uint8Array.of(1, 2, 3)
const { statement } = tdx.base.attestation
const { programs } = z
  .object({ programs: z.tuple([z.looseObject({ tdx: z.record(z.string(), z.string()) })]) })
  .parse(tdx.base.expected)

const start = async (machine: Partial<DstackMachine> = {}) => {
  const dstack = await startDstack({ now: NOW, ...machine })
  return { ...dstack, machine: await createDstack(dstack.options) }
}

/** As a client judges it, whose policy names the machine's program. */
async function judged(
  machine: Machine,
  root: string,
  { now = NOW, nonce }: { now?: number; nonce?: Bytes } = {},
) {
  const userData = hexToBytes(`0x${await sha256(statement)}`)
  const attestation = {
    format: machine.format,
    evidence: await machine.evidence(userData, nonce),
    statement,
  }
  const keyProvider = await sha256(JSON.stringify(LOCAL_PROVIDER))
  const named = programs.map((program) => ({ ...program, tdx: { ...program.tdx, keyProvider } }))
  const expected = { ...tdx.base.expected, programs: named, now, ...(nonce && { nonce: bytesToHex(nonce) }) }
  return judge(createVerifier(BORN, '', undefined, dstackBelow(root)), { attestation, expected })
}

it('evidence of a machine of dstack is accepted by a client that names its program, also as the answer to a nonce', async () => {
  const { machine, options } = await start()
  const accepted = { outcome: 'accepted', map: 'tdx', measurement: await machine.measurement() }
  const issuedAt = NOW - DAY_MS
  expect(await judged(machine, options.root)).toMatchObject({ ...accepted, issuedAt })
  expect(await judged(machine, options.root, { nonce: NONCE })).toMatchObject({ ...accepted, issuedAt })
})

it('the seal of a program on dstack opens after a restart, and neither for another program nor on another machine', async () => {
  const { machine, options } = await start()
  const sealed = (await machine.sealing?.seal(SECRET)) ?? SECRET
  const again = await createDstack(options)
  expect(await again.sealing?.unseal(sealed)).toEqual(SECRET)
  for (const other of [{ composeHash: 'c1'.repeat(32) }, { secret: 'another processor' }]) {
    const { sealing } = (await start(other)).machine
    await expect(sealing?.unseal(sealed)).rejects.toMatchObject({ code: 'undecryptable' })
  }
})

it.each(['kms', 'tpm', 'none'])(
  'nothing is sealed by keys of the provider %s, which may release them to another program',
  async (name) => {
    const { machine, asked } = await start({ keyProvider: { name, id: '' } })
    expect(machine.sealing).toBe(undefined)
    expect(asked).toEqual(['POST /GetQuote'])
  },
)

it('collateral of Intel is fetched once a day, and stays while Intel is away, until its own end', async () => {
  const { options, intel, asked } = await startDstack({ now: NOW })
  let now = NOW
  const machine = await createDstack({ ...options, now: () => now })
  const fetched = () => asked.filter((each) => each.startsWith('GET')).length
  const outcomeAt = async (days: number) => {
    now = NOW + days * DAY_MS
    return judged(machine, options.root, { now })
  }
  await outcomeAt(0)
  await outcomeAt(0.9)
  expect(fetched()).toBe(4)
  intel.now = NOW + 2 * DAY_MS
  expect(await outcomeAt(2)).toMatchObject({ outcome: 'accepted', issuedAt: NOW + DAY_MS })
  intel.isUp = false
  expect(await outcomeAt(30.5)).toMatchObject({ outcome: 'accepted' })
  const tries = fetched()
  await outcomeAt(30.5 + 0.9 / 24)
  expect(fetched()).toBe(tries)
  expect(await outcomeAt(31.5)).toEqual({ outcome: 'refused', code: 'collateral-expired' })
})

it.each(['pckcrl', 'RootCA'])(
  'the page of a gateway in place of %s displaces nothing that Intel signed, and Intel is asked again within the hour',
  async (intercepted) => {
    const { options, intel } = await startDstack({ now: NOW })
    let now = NOW
    const machine = await createDstack({ ...options, now: () => now })
    intel.intercepted = intercepted
    await expect(machine.evidence(new Uint8Array(32))).rejects.toMatchObject({ code: 'intel-unreadable' })
    intel.intercepted = undefined
    const accepted = { outcome: 'accepted', issuedAt: NOW - DAY_MS }
    expect(await judged(machine, options.root)).toMatchObject(accepted)
    intel.intercepted = intercepted
    now = NOW + 2 * DAY_MS
    expect(await judged(machine, options.root, { now })).toMatchObject(accepted)
    intel.intercepted = undefined
    intel.now = now
    now += DAY_MS / 24
    expect(await judged(machine, options.root, { now })).toMatchObject({ issuedAt: NOW + DAY_MS })
  },
)

it('collateral out of force displaces nothing, and clients see that Intel revokes the processor', async () => {
  const { options, intel } = await startDstack({ now: NOW })
  let now = NOW
  const machine = await createDstack({ ...options, now: () => now })
  expect(await judged(machine, options.root)).toMatchObject({ outcome: 'accepted' })
  intel.now = NOW - 60 * DAY_MS
  now = NOW + 2 * DAY_MS
  expect(await judged(machine, options.root, { now })).toMatchObject({ outcome: 'accepted' })
  intel.now = now
  intel.fault = { pckCrl: { from: now, until: now + DAY_MS, revoked: [PROCESSOR] } }
  now += DAY_MS / 24
  expect(await judged(machine, options.root, { now })).toEqual({
    ...{ outcome: 'refused', code: 'certificate-revoked' },
  })
})

it('a restart needs Intel for evidence alone: its keys open without', async () => {
  const { machine, options, intel } = await start()
  const sealed = (await machine.sealing?.seal(SECRET)) ?? SECRET
  intel.isUp = false
  const again = await createDstack(options)
  expect(await again.measurement()).toBe(await machine.measurement())
  expect(await again.sealing?.unseal(sealed)).toEqual(SECRET)
  await expect(again.evidence(new Uint8Array(32))).rejects.toMatchObject({ code: 'intel-refused' })
  intel.isUp = true
  expect(await judged(again, options.root)).toMatchObject({ outcome: 'accepted' })
})

it.each<[string, Partial<DstackMachine>, object]>([
  [
    'of a processor of nobody’s',
    { fault: { certificates: { root: { serial: 9 } } } },
    { code: 'unknown-root' },
  ],
  ['that a stranger signed', { fault: { signers: { quote: 'stranger' } } }, { code: 'invalid-signature' }],
  ['of another log', { fault: { events: [] } }, { code: 'log-differs' }],
  ['that the agent refuses', { fault: { head: 'no hex' } }, { code: 'agent-refused', asked: 'GetQuote' }],
])('a start on dstack ends with a quote %s', async (_, machine, reason) => {
  const { options } = await startDstack({ now: NOW, ...machine })
  await expect(createDstack(options)).rejects.toMatchObject(reason)
})

it('a failure names the agent or Intel, what was asked, and how it failed', async () => {
  const { options } = await startDstack({ now: NOW })
  const socket = `${await temporaryDirectory()}/other.sock`
  await expect(createDstack({ ...options, socket })).rejects.toMatchObject({
    ...{ code: 'agent-unreachable', asked: 'GetQuote' },
  })
  const other = createServer((_request, response) => void response.end('{}')).listen(socket)
  onTestFinished(() => void other.close())
  await expect(createDstack({ ...options, socket })).rejects.toMatchObject({ code: 'agent-unreadable' })
  for (const [url, code] of [
    [CLOSED_URL, 'intel-unreachable'],
    [await startRawServer((_request, response) => void response.end('{}')), 'intel-unreadable'],
  ] as const) {
    const machine = await createDstack({ ...options, intel: { service: url, certificates: url } })
    const evidence = machine.evidence(new Uint8Array(32))
    await expect(evidence).rejects.toMatchObject({ code, asked: expect.stringMatching(/^(tcb|identity)$/) })
  }
})
