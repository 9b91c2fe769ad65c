import { describe, expect, test } from 'vitest'
import { checkDeployment } from '../../src/chain/checkup.js'
import { createRpc } from '../../src/chain/rpc.js'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { type TestChain, useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'

const DELAY = 86_400
const chain = useChain(async () => {}, { delays: { rotation: DELAY } })

/** Findings as `result check`, each once, without what is well. */
async function found({ signer = ENCLAVE_SIGNER } = {}) {
  const { anvil, addresses } = chain()
  const findings = await checkDeployment({
    rpc: createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000 }),
    addresses,
    signer,
    signerName: 'ENCLAVE_SIGNER',
  })
  const notable = findings.filter(({ result }) => result !== 'ok')
  return {
    checks: [...new Set(notable.map(({ result, check }) => `${result} ${check}`))],
    text: notable.map(({ text }) => text).join('\n'),
  }
}

/** What is found of the signer alone. */
async function aboutSigner({ anvil, addresses }: TestChain, signer: Hex | undefined) {
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000 })
  const findings = await checkDeployment({ rpc, addresses, signer, signerName: 'ENCLAVE_SIGNER' })
  return findings.find(({ check }) => check === 'enclave-signer')
}

test('a signer that no setting names is the one of the chain', async () => {
  expect(await aboutSigner(chain(), undefined)).toMatchObject({
    result: 'ok',
    text: expect.stringContaining(ENCLAVE_SIGNER),
  })
})

describe('before there is a signer', () => {
  const early = useChain(undefined, { enclaveSigner: null })
  test.each([
    [undefined, 'signer --attestation'],
    [ENCLAVE_SIGNER, `signer ${ENCLAVE_SIGNER}`],
  ])('the mend is the first one: %s', async (signer, text) => {
    expect(await aboutSigner(early(), signer)).toMatchObject({
      result: 'fault',
      text: expect.stringMatching(new RegExp(`no enclave signer yet.* ${text}`)),
    })
  })
})

/** Puts another address where a contract's code has this one: an immutable is part of the code. */
async function replaceImmutable(contract: Hex, from: Hex, to: Hex): Promise<void> {
  const code = await chain().provider.getCode(contract)
  const changed = code.replaceAll(from.slice(2).toLowerCase(), to.slice(2).toLowerCase())
  expect(changed).not.toBe(code)
  await chain().provider.send('anvil_setCode', [contract, changed])
}

const isoAt = (seconds: number) => new Date(seconds * 1_000).toISOString()

test('the authority of another deployment is found', async () => {
  const { addresses, addressOf, account } = chain()
  await replaceImmutable(addressOf('authority'), addresses.platformPool, account('dave'))
  expect((await found()).checks).toEqual(['fault authority'])
})

test('a token that follows another list of corporate actions than the ledger is found', async () => {
  const { addressOf, account } = chain()
  await replaceImmutable(addressOf('token'), addressOf('actions'), account('dave'))
  expect((await found()).checks).toContain('fault contract-links')
})

test('a list of corporate actions that another token follows is found', async () => {
  const { addressOf, addresses, account } = chain()
  await replaceImmutable(addressOf('actions'), addresses.equityToken, account('dave'))
  expect((await found()).checks).toContain('fault contract-links')
})

test('a signer that takes over later is a fault that says when', async () => {
  await chain().send(
    'owner',
    'authority',
    'rotateSigner',
    chain().account('dave'),
    ZERO_BYTES32,
    ZERO_BYTES32,
  )
  const at = isoAt((await chain().now()) + DELAY)
  const { checks, text } = await found({ signer: chain().account('dave') })
  expect(checks).toEqual(['fault enclave-signer', 'notice rotation'])
  expect(text.split('\n')[0]).toContain(`it takes over at ${at}`)
})

test('a role that is about to change hands is said, and is no fault', async () => {
  await chain().send('owner', 'authority', 'rotateOwner', chain().account('carol'))
  const at = isoAt((await chain().now()) + DELAY)
  const { checks, text } = await found()
  expect(checks).toEqual(['notice rotation'])
  expect(text).toContain(`the owner will be ${chain().account('carol')} from ${at} on`)
  expect(text).toContain('have the owner run npm run operate -- owner --withdraw')
})
