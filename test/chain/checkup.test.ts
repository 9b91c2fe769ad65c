import { describe, expect, test } from 'vitest'
import { checkDeployment } from '../../src/chain/checkup.js'
import { createRpc } from '../../src/chain/rpc.js'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { type TestChain, useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'

const DELAY = 86_400
const chain = useChain(async () => {}, { delays: { rotation: DELAY } })

const findingsOf = ({ anvil, addresses }: TestChain, signer: Hex | undefined) =>
  checkDeployment({
    rpc: createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000 }),
    ...{ addresses, signer, signerName: 'ENCLAVE_SIGNER' },
  })

/** Findings as `result check`, each once, without what is well. */
async function found({ signer = ENCLAVE_SIGNER } = {}) {
  const notable = (await findingsOf(chain(), signer)).filter(({ result }) => result !== 'ok')
  return {
    checks: [...new Set(notable.map(({ result, check }) => `${result} ${check}`))],
    text: notable.map(({ text }) => text).join('\n'),
  }
}

const aboutSigner = async (of: TestChain, signer: Hex | undefined) =>
  (await findingsOf(of, signer)).find(({ check }) => check === 'enclave-signer')

test('a signer that no setting names is the one of the chain', async () => {
  const text = expect.stringContaining(ENCLAVE_SIGNER)
  expect(await aboutSigner(chain(), undefined)).toMatchObject({ result: 'ok', text })
})

describe('before there is a signer', () => {
  const early = useChain(undefined, { enclaveSigner: null })
  test.each([
    [undefined, 'signer --attestation'],
    [ENCLAVE_SIGNER, `signer ${ENCLAVE_SIGNER}`],
  ])('the mend is the first one: %s', async (signer, mend) => {
    const text = expect.stringMatching(new RegExp(`no enclave signer yet.* ${mend}`))
    expect(await aboutSigner(early(), signer)).toMatchObject({ result: 'fault', text })
  })
})

/** Puts another address where a contract's code has this one: an immutable is part of the code. */
async function replaceImmutable(contract: Hex, from: Hex, to: Hex): Promise<void> {
  const code = await chain().provider.getCode(contract)
  const changed = code.replaceAll(from.slice(2).toLowerCase(), to.slice(2).toLowerCase())
  expect(changed).not.toBe(code)
  await chain().provider.send('anvil_setCode', [contract, changed])
}

test.each([
  ['the authority of another deployment', 'authority', 'pool', ['fault authority']],
  ['a token that follows another list than the ledger', 'token', 'actions', ['fault contract-links']],
  ['a list that another token follows', 'actions', 'token', ['fault contract-links']],
] as const)('%s is found', async (_what, contract, replaced, checks) => {
  const { addressOf, account } = chain()
  await replaceImmutable(addressOf(contract), addressOf(replaced), account('dave'))
  expect((await found()).checks).toEqual(expect.arrayContaining([...checks]))
})

const isoIn = async (seconds: number) => new Date(((await chain().now()) + seconds) * 1_000).toISOString()

test('a signer that takes over later is a fault that says when', async () => {
  const signer = chain().account('dave')
  await chain().send('owner', 'authority', 'rotateSigner', signer, ZERO_BYTES32, ZERO_BYTES32)
  const at = await isoIn(DELAY)
  const { checks, text } = await found({ signer })
  expect(checks).toEqual(['fault enclave-signer', 'notice rotation'])
  expect(text.split('\n')[0]).toContain(`it takes over at ${at}`)
})

test('a role that is about to change hands is said, and is no fault', async () => {
  await chain().send('owner', 'authority', 'rotateOwner', chain().account('carol'))
  const at = await isoIn(DELAY)
  const { checks, text } = await found()
  expect(checks).toEqual(['notice rotation'])
  expect(text).toContain(`the owner will be ${chain().account('carol')} from ${at} on`)
  expect(text).toContain('have the owner run npm run operate -- owner --withdraw')
})
