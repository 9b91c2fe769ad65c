import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BORN } from '../../src/attestation/statement.js'
import { dstackBelow } from '../../src/attestation/tdx/index.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { addAttest, attestCommand } from '../../src/cli/commands/attest.js'
import { createProgram } from '../../src/terminal/program.js'
import { inputOf, root, tdx, vectors } from '../attestation/vectors.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const add = attestCommand(createVerifier(BORN, root, undefined, dstackBelow(tdx.root)))

const attest = (text: string, ...options: string[]) => judgedBy(add, text, ...options)

/** Writes the input into a file, and judges it. */
async function judgedBy(command: typeof add, text: string, ...options: string[]) {
  const file = join(await temporaryDirectory(), 'input.json')
  await writeFile(file, text)
  let written = ''
  const stream = { write: (more: string) => (written += more) }
  const args = ['attest', file, ...options]
  const { root: program, terminal, endWith, run } = createProgram('test', args, { out: stream, err: stream })
  command(program, { env: {}, terminal, signal: AbortSignal.timeout(200_000), endWith })
  return { exit: await run(), written }
}

it.each([
  ['accepted', 0],
  ['refused', 3],
  ['unreadable', 2],
  ['unsupported', 1],
])('attest prints as JSON that evidence is %s, and ends with %i', async (outcome, exit) => {
  const vector = vectors.find((each) => each.outcome === outcome)
  const { written, ...ended } = await attest(JSON.stringify(inputOf(vector ?? {})), '--json')
  expect(ended).toEqual({ exit })
  expect(JSON.parse(written)).toMatchObject({ outcome, ...(vector?.code && { code: vector.code }) })
})

it('attest shows people the program, the keys and the configuration that the evidence proves', async () => {
  const { written } = await attest(JSON.stringify(inputOf({})))
  for (const text of ['accepted', '0.2.0', '2026-11-28', `0x${'cc'.repeat(20)}`, 'broker.example'])
    expect(written).toContain(text)
})

it('attest takes neither half of an input nor a member twice', async () => {
  expect(await attest('{"attestation":{},"attestation":{}}')).toMatchObject({ exit: 2 })
  const { attestation } = inputOf({})
  const half = await attest(JSON.stringify({ attestation }), '--json')
  expect({ ...half, written: JSON.parse(half.written) }).toEqual({
    exit: 2,
    written: { outcome: 'unreadable', code: 'malformed-policy' },
  })
})

it('attest judges evidence of dstack as well, and as shipped by the root of Intel alone', async () => {
  const accepted = await attest(JSON.stringify(tdx.inputOf({})), '--json')
  expect({ ...accepted, written: JSON.parse(accepted.written) }).toMatchObject({
    ...{ exit: 0, written: { outcome: 'accepted', map: 'tdx', label: '0.2.0' } },
  })
  const shipped = await judgedBy(addAttest, JSON.stringify(tdx.inputOf({})), '--json')
  expect({ ...shipped, written: JSON.parse(shipped.written) }).toEqual({
    ...{ exit: 3, written: { outcome: 'refused', code: 'unknown-root' } },
  })
})
