// What the owner does by evidence: nothing is rotated to a key that it does not bind, nor sealed to another. The documents are of the vectors' root.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { BASE, MEASUREMENTS, program, ROOT, STATEMENT, stating } from '../../scripts/attestation/base.js'
import { BORN } from '../../src/attestation/statement.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { configDigest, encodeStatement } from '../../src/attestation/write.js'
import { hexToBytes } from '../../src/protocol/hex.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { openResolution, postResolutionSchema } from '../../src/protocol/resolution.js'
import { useChain } from '../support/chain.js'
import { startHttpServer } from '../support/httpServer.js'
import { operate } from '../support/operate.js'
import { directoryOf, keyOf } from './operateUnderTest.js'

const chain = useChain(undefined, { delays: { rotation: 86_400 }, enclaveSigner: null })
const ORDER = `0x${'0d'.repeat(32)}`
const PROGRAM = [MEASUREMENTS.enclave, await configDigest(STATEMENT.configuration)]

const trusting: typeof import('../../src/attestation/index.js')['verifyAttestation'] = (document, expected) =>
  createVerifier(BORN, ROOT)(document, { ...expected, now: BASE.expected.now })

/** Evidence of this deployment, whose statement differs so. */
async function evidence(changes: Partial<typeof STATEMENT> = {}) {
  const authority = chain().addressOf('authority')
  const escrow = chain().addressOf('escrow')
  const text = await encodeStatement({ ...STATEMENT, authority, escrow, ...changes })
  return { format: 'aws-nitro', ...(await stating(text)).attestation }
}

async function rotate(document: unknown, args: string[] = [], programs: object[] = [program()]) {
  const directory = await directoryOf(chain())
  const [source, policy] = [join(directory, 'evidence.json'), join(directory, 'policy.json')]
  await writeFile(source, JSON.stringify(document))
  await writeFile(policy, JSON.stringify(programs))
  const options = ['--attestation', source, '--policy', policy, '--yes', '--directory', directory]
  const env = { RPC_URL: chain().anvil.rpcUrl, OWNER_PRIVATE_KEY: keyOf(chain(), 'owner') }
  return operate(['signer', ...options, ...args], { env, verifyBorn: trusting })
}

it('signer, measurement and configuration are those of the document', async () => {
  expect(await rotate(await evidence())).toMatchObject({ exit: 0, out: 'done: signer\n' })
  expect(`${await chain().read('authority', 'enclaveSigner')}`.toLowerCase()).toBe(STATEMENT.signer)
  expect(await chain().read('authority', 'signerProgram')).toEqual(PROGRAM)
  expect(await rotate(await evidence())).toMatchObject({ exit: 0, out: 'nothing to do\n' })
})

it('another configuration of the same signer is a change, and is asked for once', async () => {
  await rotate(await evidence())
  const configuration = { ...STATEMENT.configuration, RPC_WITNESS_URL: 'other.example' }
  const other = await configDigest(configuration)
  const [document, programs] = [await evidence({ configuration }), [program({ configuration: other })]]
  expect(await rotate(document, [], programs)).toMatchObject({ exit: 0, out: 'done: signer\n' })
  expect(await chain().read('authority', 'pendingProgram')).toEqual([MEASUREMENTS.enclave, other])
  expect(await rotate(document, [], programs)).toMatchObject({ exit: 0, out: 'nothing to do\n' })
})

it('a scheduled change is withdrawn once, and the present signer scheduled anew only to replace one', async () => {
  const env = { RPC_URL: chain().anvil.rpcUrl, OWNER_PRIVATE_KEY: keyOf(chain(), 'owner') }
  const directory = await directoryOf(chain())
  const signer = async (...args: string[]) =>
    operate(['signer', ...args, '--yes', '--directory', directory], { env })
  const [alice, bob] = [chain().account('alice'), chain().account('bob')]
  // The first signer is in force at once.
  await signer(alice)
  expect((await signer(bob)).err).toContain(`will make ${bob} the signer in 1 day`)
  expect((await signer(bob)).out).toBe('nothing to do\n')
  expect((await signer(alice)).out).toBe('done: signer\n')
  await signer(bob)
  expect((await signer('--withdraw')).out).toBe('done: signer\n')
  expect((await signer('--withdraw')).out).toBe('nothing to do\n')
  await chain().mineAt((await chain().now()) + 86_400)
  expect(await chain().read('authority', 'enclaveSigner')).toBe(alice)
  expect((await signer(alice)).out).toBe('nothing to do\n')
})

it('a server shows it as a member of its answer', async () => {
  const shown = JSON.stringify({ attestation: { ...(await evidence()), shownUntil: '2026' } })
  await using cleanUp = new AsyncDisposableStack()
  const server = await startHttpServer((_, response) => response.end(shown))
  cleanUp.defer(server.stop)
  const args = ['--attestation', `${server.url}/enclave-key`]
  expect(await rotate({}, args)).toMatchObject({ exit: 0, out: 'done: signer\n' })
})

it.each<[string, string, () => Promise<unknown>, string[]?, object[]?]>([
  ['another signer than the one named', 'binds another signer', evidence, [`0x${'dd'.repeat(20)}`]],
  ['a program of no policy', 'none of the policy', evidence, [], [program({ pcrs: { 0: '11'.repeat(48) } })]],
  ['another deployment', 'another deployment', () => evidence({ escrow: `0x${'11'.repeat(20)}` })],
  ['another authority', 'its authority is', () => evidence({ authority: `0x${'11'.repeat(20)}` })],
  ['no statement', 'has no evidence', async () => ({})],
  [
    'evidence by http',
    'expected a file, an https URL',
    evidence,
    ['--attestation', 'http://server.example/'],
  ],
])('nothing is rotated for %s', async (_, text, document, args, programs) => {
  const { exit, err } = await rotate(await document(), args, programs)
  expect(exit).not.toBe(0)
  expect(err).toContain(text)
  expect(await chain().read('authority', 'enclaveSigner')).toBe(`0x${'00'.repeat(20)}`)
})

it('a resolution is sealed to the key that evidence of the signer in force states, where the page names programs', async () => {
  const key = hexToBytes(`0x${'42'.repeat(32)}`)
  const document = await evidence({ sealKey: publicKeyOf(key) })
  await rotate(document)
  let attestation = document
  const posted: unknown[] = []
  await using cleanUp = new AsyncDisposableStack()
  const server = await startHttpServer(async (req, response) => {
    if (req.url === '/enclave-key') return response.end(JSON.stringify({ attestation }))
    posted.push(JSON.parse(await text(req)))
    response.end('{"result":"done"}')
  })
  cleanUp.defer(server.stop)
  const directory = await directoryOf(chain())
  const escrow = chain().addressOf('escrow')
  const order = { chainId: 31337, escrow, orderId: ORDER, account: STATEMENT.signer, state: 'REFUNDED' }
  const files = {
    'desk.json': {
      ...{
        serverUrl: server.url,
        origin: 'http://localhost:5173',
        pins: { escrow },
        measurements: [program()],
      },
      chain: { id: 31337, name: 'Test', rpcUrl: null, firstBlock: 0 },
    },
    'order.json': { ...order, portfolioHash: ORDER, nonce: 7, entry: null },
  }
  for (const [name, file] of Object.entries(files))
    await writeFile(join(directory, name), JSON.stringify(file))
  const env = { RPC_URL: chain().anvil.rpcUrl, OWNER_PRIVATE_KEY: keyOf(chain(), 'owner') }
  const resolve = () => {
    const report = ['--enclave-report', join(directory, 'order.json')]
    const args = ['resolve', ORDER, '--nonce', ...report, '--yes', '--directory', directory]
    return operate(args, { env, verifyBorn: trusting })
  }
  expect(await resolve()).toMatchObject({ exit: 0, out: 'done: resolve\n' })
  const { validBefore: _, sig: _sig, ...envelope } = postResolutionSchema.parse(posted[0])
  expect(await openResolution(envelope, key, { chainId: 31337, escrow })).toMatchObject({ resolves: 'nonce' })

  attestation = {
    ...document,
    statement: document.statement.replace(publicKeyOf(key), `0x02${'d2'.repeat(32)}`),
  }
  expect(await resolve()).toMatchObject({ exit: 3, err: expect.stringContaining('another statement') })
  attestation = document
  await chain().send('guardian', 'authority', 'revokeMeasurement', MEASUREMENTS.enclave)
  expect(await resolve()).toMatchObject({ exit: 3, err: expect.stringContaining('revoked') })
  expect(posted).toHaveLength(1)
})

it.each(['--unattested', '--withdraw'])('evidence stands alone, without %s', async (option) => {
  expect(await rotate(await evidence(), [option])).toMatchObject({ exit: 2 })
})

it('no evidence makes the signer one of a program that the guardian has revoked', async () => {
  await chain().send('guardian', 'authority', 'revokeMeasurement', MEASUREMENTS.enclave)
  expect(await rotate(await evidence())).toMatchObject({
    exit: 1,
    err: expect.stringContaining('RevokedMeasurement'),
  })
})

it('an attested signer gives way to an address of no evidence only if the owner says so', async () => {
  await rotate(await evidence())
  const env = { RPC_URL: chain().anvil.rpcUrl, OWNER_PRIVATE_KEY: keyOf(chain(), 'owner') }
  const to = chain().account('bob')
  const args = ['signer', to, '--yes', '--directory', await directoryOf(chain())]
  const refused = await operate(args, { env })
  expect(refused).toMatchObject({ exit: 2, err: expect.stringContaining('no evidence binds this address') })
  expect(await chain().read('authority', 'pendingRotation', 2)).toEqual([`0x${'00'.repeat(20)}`, 0n])
  expect(await operate([...args, '--unattested'], { env })).toMatchObject({ exit: 0, out: 'done: signer\n' })
  expect(await chain().read('authority', 'pendingRotation', 2)).toEqual([to, expect.any(BigInt)])
})
