// Actor: the operator of server and enclave.
// Cost: a restart with another setting or another build, in debug mode, a document that was kept, or one that was made.
// Effect: each order goes in plaintext to a broker's URL of the operator's own, or to a program that nobody has read, while the
// page shows a genuine document of the hardware.
// Now: the configuration and the program are those that the client's policy names, the document is the hardware's own and of the last
// two hours, and its signer is the chain's. Otherwise the order is sealed to nobody: it costs no signature, no gas and no escrow.
import { expect, it } from 'vitest'
import { digest, program, ROOT, replaced, STATEMENT, withChain } from '../../scripts/attestation/base.js'
import {
  type Changes,
  type DocumentParts,
  HOUR,
  NOW,
  point,
  register,
} from '../../scripts/attestation/documents.js'
import type { Measurements } from '../../src/attestation/index.js'
import { BORN } from '../../src/attestation/statement.js'
import { createVerifier } from '../../src/attestation/verify.js'
import { encodeStatement } from '../../src/attestation/write.js'
import { bytesToHex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { authority, DIGITAL_SIGNATURE, publicKey } from '../../src/simulator/device/document.js'
import {
  answerAsServer,
  clearForTrading,
  clientOf,
  enclaveKeyOf,
  INTENT_PUBLIC_KEY,
} from '../client/clientSetting.js'
import { useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'

const chain = useChain(clearForTrading)
const api = await useApi()

/** The registers of the build that comes next, which the client accepts already; and of one that nobody knows. */
const NEXT = replaced([[0, register(20)]])
const UNKNOWN = replaced([[0, register(21)]])
const DEBUG = replaced([0, 1, 2].map((index) => [index, register(0)]))
const OWN_KEY = { key: publicKey(point('stranger')) }
const programs = [program(), program({ label: '0.3.0', pcrs: { 0: bytesToHex(register(20)).slice(2) } })]

interface Shown {
  readonly statement?: Partial<typeof STATEMENT>
  readonly members?: DocumentParts['members']
  /** Certificates that are made otherwise. */
  readonly chain?: Changes
}

/** Alice buys at a server that shows this. */
async function buy({ statement, members, chain: changes = {} }: Shown) {
  const { chainId, escrow } = enclaveKeyOf(chain())
  const own = { chainId, escrow, signer: ENCLAVE_SIGNER, sealKey: INTENT_PUBLIC_KEY }
  const text = await encodeStatement({ ...STATEMENT, ...own, ...statement })
  const { attestation } = await withChain(changes, { user_data: await digest(text), ...members })
  const shown = { format: 'aws-nitro', ...attestation, statement: text }
  const key = { ...enclaveKeyOf(chain()), attestation: shown }
  answerAsServer(api, chain(), ({ path }) => (path === '/enclave-key' ? { body: key } : undefined))
  const measurements: Measurements = (found, expected) =>
    createVerifier(BORN, ROOT)(found, { ...expected, programs, now: NOW })
  const client = clientOf(chain(), api, 'alice', { measurements })
  const deadline = (await chain().now()) + 3_600
  return client.placeOrder({ side: 'BUY', symbol: 'AAPL', usdc: 25_000_000n, deadline })
}

it('an order goes to the enclave that the policy and the chain name', async () => {
  expect(await buy({ members: { timestamp: NOW - 2 * HOUR } })).toMatchObject({
    order: { orderId: expect.any(String) },
  })
})

const configuration = { ...STATEMENT.configuration, ALPACA_TRADING_URL: 'broker.operator.example' }
const signer = `0x${'99'.repeat(20)}` as const
const rotate = () => chain().send('owner', 'authority', 'rotateSigner', signer, ZERO_BYTES32, ZERO_BYTES32)

it.each<[string, string, Shown, (() => Promise<unknown>)?]>([
  ['sends orders to another broker', 'wrong-configuration', { statement: { configuration } }],
  ['shows a document that was kept', 'outdated', { members: { timestamp: NOW - 2 * HOUR - 1 } }],
  ['shows that of the enclave before the last rotation', 'wrong-signer', {}, rotate],
  [
    'starts the next build before its rotation',
    'wrong-signer',
    { statement: { signer }, members: { pcrs: NEXT } },
  ],
  ['starts a build that nobody knows', 'unknown-program', { members: { pcrs: UNKNOWN } }],
  ['can read the memory of a debug image', 'debug-mode', { members: { pcrs: DEBUG } }],
  ['makes documents below a root of his own', 'unknown-root', { chain: { root: OWN_KEY } }],
  [
    'has the certificate of one enclave sign for another',
    'certificate-misused',
    { chain: { leaf: { extensions: [authority(), DIGITAL_SIGNATURE] } } },
  ],
])('an operator who %s gets no order', async (_, code, shown, before) => {
  await before?.()
  const alice = chain().account('alice')
  const sent = await chain().provider.getTransactionCount(alice)
  await expect(buy(shown)).rejects.toMatchObject({ code: 'untrusted-enclave', cause: { code } })
  expect(api.requests.filter(({ method }) => method !== 'GET')).toEqual([])
  expect(await chain().provider.getTransactionCount(alice)).toBe(sent)
})
