// Whose signatures are relayed: those of the chain's signer, which the server's configuration does not have to name.
import { expect, test } from 'vitest'
import type { Hex } from '../../../src/protocol/hex.js'
import { addressOfKey } from '../../../src/protocol/publicKey.js'
import { batchMint } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, setUpInstitution, shares } from '../../support/institution.js'
import { storedRows } from '../../support/storedRows.js'
import { bodyOf, receiptOf, startRelay } from './relayUnderTest.js'

const DELAY = 3_600
const ZERO = `0x${'00'.repeat(32)}`
const NEXT: Hex = `0x${'0e'.repeat(32)}`
const chain = useChain(setUpInstitution, { delays: { rotation: DELAY } })
const mint = (key?: Hex, batch = 1n) => bodyOf(chain(), batchMint(AAPL, shares(5), { batch }), key)

test.each([
  ['keys in files', {}],
  ['an attested enclave', { INTENT_PUBKEY: '', ENCLAVE_SIGNER: '' }],
])('a server of %s refuses another key’s signature without a question to the node', async (_what, env) => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const asked: string[] = []
  const relay = await startRelay({ chain: chain(), rpcUrl: proxy.url, env })
  const before = await chain().provider.getBalance(chain().account('relayer'))
  expect((await relay.post(mint(NEXT))).status).toBe(422)
  proxy.fault = (calls) => {
    asked.push(...calls.map(({ method }) => method))
    return 'none'
  }
  const { status, body } = await relay.post(mint(`0x${'0d'.repeat(32)}`))
  expect([status, body.code]).toEqual([422, 'invalid-signature'])
  expect(asked.filter((method) => method === 'eth_call' || method === 'eth_estimateGas')).toEqual([])
  expect(await chain().provider.getBalance(chain().account('relayer'))).toBe(before)
  expect(storedRows(relay.dataDir, 'relays')).toEqual([])
})

test('the next signer’s authorizations are relayed from its time on, and the former one’s no more', async () => {
  const relay = await startRelay({ chain: chain() })
  const codeOf = async (body: object) => (await relay.post(body)).body.code
  await chain().send('owner', 'authority', 'rotateSigner', addressOfKey(NEXT), ZERO, ZERO)
  expect(await codeOf(mint(NEXT))).toBe('invalid-signature')
  await chain().mineAt((await chain().now()) + DELAY)
  // What the server read before the change still has the former one: then the contract refuses it, before gas is spent.
  expect(await codeOf(mint())).toBe('would-revert')
  expect(receiptOf(await relay.post(mint(NEXT)))).toMatchObject({ status: 'confirmed' })
  expect(await codeOf(mint(undefined, 2n))).toBe('invalid-signature')
})
