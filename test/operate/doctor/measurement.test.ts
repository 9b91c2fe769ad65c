// `operate doctor`: whether server and chain say the same of the enclave's program. The documents are of the vectors' root.
import { expect, it, onTestFinished } from 'vitest'
import { BASE, digest, MEASUREMENTS, ROOT, STATEMENT, stating } from '../../../scripts/attestation/base.js'
import { encode, members } from '../../../scripts/attestation/tdx/evidence.js'
import { configDigest, encodeStatement } from '../../../src/attestation/write.js'
import { ADDRESS_VARIABLES, CONTRACT_NAMES } from '../../../src/chain/contracts.js'
import { checkMeasurement } from '../../../src/operate/doctor/measurement.js'
import { type Hex, hexToBytes, ZERO_BYTES32 } from '../../../src/protocol/hex.js'
import { publicKeyOf } from '../../../src/protocol/publicKey.js'
import { tdx } from '../../attestation/vectors.js'
import { useChain } from '../../support/chain.js'
import { rootOfProcessors } from '../../support/dstackMachine.js'
import { startHttpServer } from '../../support/httpServer.js'
import { serverConfig } from '../../support/serverEnvironment.js'

const chain = useChain()
const MEASUREMENT: Hex = MEASUREMENTS.enclave
const CONFIG = await configDigest(STATEMENT.configuration)
const STRANGER: Hex = `0x${'dd'.repeat(20)}`
const OTHER: Hex = `0x${'77'.repeat(32)}`
/** That of the vectors of dstack. */
const OF_DSTACK = tdx.vectors.find(({ code }) => code === null)?.measurement ?? ''
const SHOWN_KEY = publicKeyOf(hexToBytes(OTHER))
/** Of this deployment and the shown key, but for what differs. */
const statement = (differs: Partial<typeof STATEMENT> = {}) =>
  encodeStatement({ ...STATEMENT, escrow: chain().addressOf('escrow'), sealKey: SHOWN_KEY, ...differs })
const evidenceOfDstack = async () => {
  const text = await statement()
  const evidence = Buffer.from(encode(await members(await digest(text)))).toString('base64')
  return { format: 'dstack', evidence, statement: text }
}
const evidence = async (differs?: Partial<typeof STATEMENT>) => ({
  format: 'aws-nitro',
  ...(await stating(await statement(differs))).attestation,
})

/** What the doctor says beside a server that shows this, and a chain that names that. */
async function found(attestation: object | undefined, digests?: readonly Hex[]) {
  if (digests) await chain().send('owner', 'authority', 'rotateSigner', STATEMENT.signer, ...digests)
  const { addresses, addressOf, anvil } = chain()
  const key = {
    publicKey: SHOWN_KEY,
    chainId: 31_337,
    scheme: STATEMENT.scheme,
    attestation,
  }
  const shown = JSON.stringify({ ...key, escrow: addresses.orderEscrow, usdc: addressOf('usdc') })
  const server = await startHttpServer((request, response) =>
    response.end(request.url === '/enclave-key' ? shown : ''),
  )
  onTestFinished(server.stop)
  const variables = CONTRACT_NAMES.map((name) => [ADDRESS_VARIABLES[name], addresses[name]] as const)
  const env = { RPC_URL: anvil.rpcUrl, HOST: '127.0.0.1', PORT: new URL(server.url).port }
  const config = serverConfig({ ...Object.fromEntries(variables), ...env })
  return checkMeasurement(config, {
    ...{ root: ROOT, intel: await rootOfProcessors(), now: BASE.expected.now },
  })
}

const NAMED: readonly Hex[] = [MEASUREMENT, CONFIG]
const NOBODY: readonly Hex[] = [ZERO_BYTES32, ZERO_BYTES32]

it.each<[string, string, string, () => Promise<object | undefined>, readonly Hex[]]>([
  ['the named program', 'ok', MEASUREMENT, evidence, NAMED],
  ['another signer', 'fault', 'another signer', () => evidence({ signer: STRANGER }), NAMED],
  ['another deployment', 'fault', 'another deployment', () => evidence({ escrow: STRANGER }), NAMED],
  ['keys in files', 'ok', 'keys in files', async () => undefined, NOBODY],
  ['another program', 'fault', `program is ${MEASUREMENT}`, evidence, [OTHER, CONFIG]],
  ['no evidence of a named program', 'fault', 'shows no evidence', async () => undefined, [OTHER, OTHER]],
  ['a program that nobody named', 'notice', 'signer --attestation', evidence, NOBODY],
  ['a machine of dstack', 'fault', `program is ${OF_DSTACK}`, evidenceOfDstack, [OTHER, CONFIG]],
  [
    'an unknown platform',
    'unchecked',
    'of test',
    async () => ({ ...(await evidence()), format: 'test' }),
    NAMED,
  ],
])('operate doctor: %s', async (_, result, text, shown, named) => {
  const finding = await found(await shown(), named)
  expect(finding).toMatchObject({ check: 'same-measurement', result })
  expect(finding.text).toContain(text)
})

it('operate doctor: a program that was revoked after it was named', async () => {
  await found(undefined, [MEASUREMENT, CONFIG])
  await chain().send('guardian', 'authority', 'revokeMeasurement', MEASUREMENT)
  const finding = await found(await evidence())
  expect(finding).toMatchObject({ result: 'fault', text: expect.stringContaining('revoked') })
})
