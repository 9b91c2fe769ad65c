// The ceremony of holders, at the command's door, with an enclave that is made of the program's functions.
import { existsSync } from 'node:fs'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { MEASUREMENTS, program, ROOT, replaced, STATEMENT, text } from '../../scripts/attestation/base.js'
import { NOW, register } from '../../scripts/attestation/documents.js'
import { createStartingVerifier, type StartingVerifier } from '../../src/attestation/starting.js'
import { configDigest } from '../../src/attestation/write.js'
import { hexOf } from '../../src/protocol/hex.js'
import { foundingSchema } from '../../src/protocol/provisioning.js'
import { useChain } from '../support/chain.js'
import { operate } from '../support/operate.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { directoryOf } from './operateUnderTest.js'
import { type Fault, useStartingEnclave } from './startingEnclave.js'

const chain = useChain(undefined, { enclaveSigner: null })
const judge = createStartingVerifier(ROOT)
/** By the clock of the documents. */
const verify: StartingVerifier = (attestation, expected) => judge(attestation, { ...expected, now: NOW })
const BROKER = { keyId: 'PKEXAMPLE', secretKey: 'an-example-of-a-secret-key' }
const factsSchema = z.looseObject({ publicKey: z.optional(hexOf(33)) })

/** A directory of files, its holders' keys, and the commands on them. */
async function useCeremony(cleanUp: AsyncDisposableStack, firstFault: Fault = {}) {
  const directory = await temporaryDirectory()
  const file = (name: string) => join(directory, name)
  await writeFile(file('policy.json'), JSON.stringify([program()]))
  await writeFile(file('broker.json'), JSON.stringify(BROKER), { mode: 0o600 })
  const domain = { chainId: STATEMENT.chainId, escrow: chain().addressOf('escrow') }
  const env = { RPC_URL: chain().anvil.rpcUrl }
  const run = (name: string, args: readonly string[], options: Parameters<typeof operate>[1] = {}) =>
    operate(['attest', name, ...args, ...(options.answer === undefined ? ['--yes'] : [])], {
      ...{ verify, env },
      ...options,
    })
  async function holder(name: string) {
    const { out } = await run('key', ['--key-file', file(`${name}.key`), '--json'])
    return factsSchema.parse(JSON.parse(out)).publicKey ?? '0x'
  }
  const holders = [await holder('owner'), await holder('guardian'), await holder('bank')]
  const start = (fault: Fault) => useStartingEnclave(cleanUp, { holders, domain, fault })
  let enclave = await start(firstFault)
  const judging = [
    ...['--policy', file('policy.json')],
    ...['--chain-id', `${domain.chainId}`, '--escrow', domain.escrow],
  ]
  const found = (...more: string[]) =>
    run('found', [
      ...['--enclave-url', enclave.url, '--out', file('shares.json'), '--key-file', file('owner.key')],
      ...[...judging, ...more],
    ])
  const accept = (name: string, ...more: string[]) =>
    run('accept', [
      ...['--shares', file('shares.json'), '--key-file', file(`${name}.key`), '--out', file(`${name}.share`)],
      ...[...judging, ...more],
    ])
  const provision = (name: string, more: readonly string[] = [], options = {}) => {
    const own = ['--share', file(`${name}.share`), '--key-file', file(`${name}.key`)]
    return run('provision', ['--enclave-url', enclave.url, ...own, ...judging, ...more], options)
  }
  return {
    ...{ file, holders, found, accept, provision, run, domain, env },
    enclave: () => enclave,
    /** Another enclave, in the place of the first one. */
    async restart(fault: Fault) {
      enclave = await start(fault)
    },
  }
}

/** A ceremony whose holders have their shares, and then an enclave that may be another. */
async function useHolders(cleanUp: AsyncDisposableStack, fault: Fault = {}) {
  const ceremony = await useCeremony(cleanUp)
  expect(await ceremony.found()).toMatchObject({ exit: 0 })
  for (const name of ['owner', 'guardian', 'bank'])
    expect(await ceremony.accept(name)).toMatchObject({ exit: 0 })
  await ceremony.restart(fault)
  return { ...ceremony, enclave: ceremony.enclave() }
}

/** What is wrong with an enclave, its code, and how the command ends. */
const FAULTS: [string, Fault, code: string, exit: number][] = [
  ['of a wrong program', { members: { pcrs: replaced([[0, register(9)]]) } }, 'unknown-program', 3],
  [
    'of a debug image',
    { members: { pcrs: replaced([0, 1, 2].map((index) => [index, register(0)])) } },
    ...(['debug-mode', 3] as const),
  ],
  ['of another deployment', { statement: { escrow: STATEMENT.authority } }, 'wrong-escrow', 3],
  ['that has its keys', { text }, 'malformed-statement', 2],
]

describe('operate attest', () => {
  it('founds a master key, hands out its shares, and gives them to an enclave', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { file, holders, enclave, found, accept, provision } = await useCeremony(cleanUp)
    expect(await found()).toMatchObject({ exit: 0, out: expect.stringContaining('3 shares') })
    for (const name of ['owner', 'bank']) {
      expect(await accept(name)).toMatchObject({
        exit: 0,
        out: expect.stringContaining('a share of 3, of which 2'),
      })
      expect((await stat(file(`${name}.share`))).mode & 0o777).toBe(0o600)
      expect((await stat(file(`${name}.key`))).mode & 0o777).toBe(0o600)
    }
    const first = await provision('bank')
    expect(first).toMatchObject({
      exit: 0,
      out: 'the enclave has 1 of 2 shares, and waits for the next holder\n',
    })
    expect(first.err).toContain('the evidence holds: program 0.2.0')
    const last = await provision('owner', ['--broker-keys', file('broker.json'), '--json'])
    expect(JSON.parse(last.out)).toMatchObject({
      ...{ command: 'attest provision', given: [holders[2], holders[0]], threshold: 2, isReady: true },
      ...{ label: '0.2.0', measurement: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    })
    expect(enclave().born()).toEqual([{ master: expect.any(Uint8Array), brokerKeys: BROKER }])
    expect(await provision('bank')).toMatchObject({ exit: 0, out: expect.stringContaining('nothing to do') })
  })

  it.each(FAULTS)('gives no share to an enclave %s', async (_, fault, code, exit) => {
    await using cleanUp = new AsyncDisposableStack()
    const { enclave, provision } = await useHolders(cleanUp, fault)
    const ended = await provision('owner', ['--json'])
    expect({ exit: ended.exit, posts: enclave.posts, err: JSON.parse(ended.err) }).toMatchObject({
      ...{ exit, posts: [], err: { error: { faults: [code] } } },
    })
  })

  it('keeps nothing of a founding by a program that the guardian has revoked', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { file, found, accept } = await useCeremony(cleanUp)
    await found()
    await chain().send('guardian', 'authority', 'revokeMeasurement', MEASUREMENTS.enclave)
    const refused = { exit: 3, out: '', err: expect.stringContaining('revoked-program') }
    expect(await accept('owner')).toMatchObject(refused)
    expect(await found('--out', file('again.json'))).toMatchObject(refused)
    expect(['owner.share', 'again.json'].map((name) => existsSync(file(name)))).toEqual([false, false])
  })

  it('gives a share to a program that the chain does not name only if its holder says that it is the next', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { enclave, provision } = await useHolders(cleanUp)
    const bob = chain().account('bob')
    const name = (config: string) =>
      chain().send('owner', 'authority', 'rotateSigner', bob, MEASUREMENTS.enclave, config)
    await name(`0x${'0c'.repeat(32)}`)
    expect(await provision('owner')).toMatchObject({
      exit: 3,
      err: expect.stringContaining('unannounced-program'),
    })
    expect(enclave.posts).toEqual([])
    expect(await provision('owner', ['--next'])).toMatchObject({ exit: 0 })
    // The owner has named it.
    await name(await configDigest(STATEMENT.configuration))
    expect(await provision('bank')).toMatchObject({ exit: 0 })
  })

  it('trusts the root of AWS alone, unless it is told another in code', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { run, enclave, file, domain, env } = await useHolders(cleanUp)
    const own = ['--share', file('owner.share'), '--key-file', file('owner.key')]
    const args = ['--enclave-url', enclave.url, ...own]
    const judging = ['--policy', file('policy.json'), '--chain-id', '31337', '--escrow', domain.escrow]
    const shipped = await operate(['attest', 'provision', ...args, ...judging, '--yes'], { env })
    expect(shipped).toMatchObject({ exit: 3, err: expect.stringContaining('unknown-root') })
    expect(enclave.posts).toEqual([])
    expect((await run('provision', [...args, ...judging])).exit).toBe(0)
  })

  it('keeps neither a founding nor a share that the evidence is not about', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const swapped = await useCeremony(cleanUp, { statement: { shares: `0x${'11'.repeat(32)}` } })
    expect(await swapped.found()).toMatchObject({ exit: 3, err: expect.stringContaining('shares-differ') })
    const { file, found, accept } = await useCeremony(cleanUp)
    await found()
    const founding = z
      .looseObject({ shares: z.array(z.unknown()) })
      .parse(JSON.parse(await readFile(file('shares.json'), 'utf8')))
    await writeFile(
      file('shares.json'),
      JSON.stringify({ ...founding, shares: founding.shares.toReversed() }),
    )
    expect(await accept('owner')).toMatchObject({ exit: 3, err: expect.stringContaining('shares-differ') })
    expect(existsSync(file('owner.share'))).toBe(false)
  })

  it('keeps a share as it is sealed, so that its file tells nothing without the key', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { file, holders, domain, enclave, provision } = await useHolders(cleanUp)
    const { shares } = foundingSchema.parse(JSON.parse(await readFile(file('shares.json'), 'utf8')))
    const kept = JSON.parse(await readFile(file('guardian.share'), 'utf8'))
    expect(kept).toEqual({ ...domain, holder: holders[1], envelope: shares[1] })
    await writeFile(file('guardian.share'), JSON.stringify({ ...kept, envelope: shares[0] }))
    expect(await provision('guardian')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('does not open'),
    })
    expect(enclave.posts).toEqual([])
  })

  it('says that the enclave waits for the broker’s keys', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { provision } = await useHolders(cleanUp)
    await provision('bank')
    expect(await provision('owner')).toMatchObject({ out: expect.stringContaining('--broker-keys') })
  })

  it('sends nothing where the question is answered with no', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { enclave, provision } = await useHolders(cleanUp)
    expect(await provision('owner', [], { answer: 'no' })).toMatchObject({ exit: 3, out: '' })
    expect(enclave.posts).toEqual([])
  })

  it('takes secrets from files of mode 0600 alone, and a share for its own deployment and key alone', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { file, enclave, provision } = await useHolders(cleanUp)
    const elsewhere = ['--escrow', STATEMENT.authority]
    expect(await provision('owner', elsewhere)).toMatchObject({
      exit: 2,
      err: expect.stringContaining('another deployment'),
    })
    const foreign = ['--key-file', file('bank.key')]
    expect(await provision('owner', foreign)).toMatchObject({
      exit: 2,
      err: expect.stringContaining("another holder's"),
    })
    await chmod(file('owner.share'), 0o644)
    expect(await provision('owner')).toMatchObject({ exit: 2, err: expect.stringContaining('chmod 600') })
    await chmod(file('broker.json'), 0o644)
    expect((await provision('bank', ['--broker-keys', file('broker.json')])).exit).toBe(2)
    expect(enclave.posts).toEqual([])
  })

  it('takes chain and escrow of deployment.json, and needs a policy that pins its programs', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { file, enclave, run } = await useHolders(cleanUp)
    const found = async (directory: string) =>
      run('found', [
        ...['--enclave-url', enclave.url, '--key-file', file('owner.key'), '--out', file('again.json')],
        ...['--directory', directory, '--policy', file('policy.json')],
      ])
    expect(await found(file('.'))).toMatchObject({
      ...{ exit: 2, err: expect.stringContaining('deployment.json does not exist') },
    })
    const directory = await directoryOf(chain())
    expect(await found(directory)).toMatchObject({ exit: 0 })
    await writeFile(file('policy.json'), JSON.stringify([program({ pcrs: {} })]))
    expect(await found(directory)).toMatchObject({
      ...{ exit: 2, err: expect.stringContaining('is no policy') },
    })
  })

  it('tells a refusal of the enclave, and that none answers', async () => {
    await using cleanUp = new AsyncDisposableStack()
    const { provision, accept, file, run } = await useHolders(cleanUp)
    const { enclave } = await useCeremony(cleanUp)
    const there = ['--enclave-url', enclave().url]
    expect(await provision('owner', there)).toMatchObject({
      exit: 1,
      err: expect.stringContaining('unknown-holder'),
    })
    expect(await provision('owner', ['--enclave-url', 'http://127.0.0.1:1'])).toMatchObject({ exit: 5 })
    // Files that exist are kept.
    expect(await accept('owner')).toMatchObject({ exit: 2, err: expect.stringContaining('EEXIST') })
    const before = await readFile(file('owner.key'), 'utf8')
    expect(await run('key', ['--key-file', file('owner.key')])).toMatchObject({ exit: 0 })
    expect(await readFile(file('owner.key'), 'utf8')).toBe(before)
  })
})
