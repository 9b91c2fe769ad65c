// An enclave on a machine of dstack: what the agent and Intel answer becomes evidence, and keys stay with the program.
import { expect, it } from 'vitest'
import * as z from 'zod'
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

const DAY_MS = 86_400_000
const NOW = Date.UTC(2027, 2, 1)
const NONCE = new Uint8Array(32).fill(7)
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

it('nothing is sealed by keys of a service, which may release them to another program', async () => {
  const { machine, asked } = await start({ keyProvider: { name: 'kms', id: '' } })
  expect(machine.sealing).toBe(undefined)
  expect(asked).toEqual(['POST /GetQuote'])
})

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
