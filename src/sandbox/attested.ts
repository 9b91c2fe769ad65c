// The sandbox's attested enclave: its device, the holders of its master key, and the ceremony at its start by operate's own commands.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import type { AcceptedProgram } from '../attestation/policy.js'
import { createStartingVerifier } from '../attestation/starting.js'
import { BORN } from '../attestation/statement.js'
import { createVerifier } from '../attestation/verify.js'
import { configDigest, configurationOf } from '../attestation/write.js'
import { attestedSettings } from '../enclave/attested/settings.js'
import { loadSettings } from '../enclave/commonConfig.js'
import { makeHolderKey } from '../operate/attest/holder.js'
import { attestedSigner } from '../operate/attest/signerEvidence.js'
import { runOperate } from '../operate/program.js'
import { readDeployment } from '../operate/settings.js'
import { TEST_FORMAT } from '../protocol/attestation.js'
import { bytesToHex } from '../protocol/hex.js'
import { makeDevice, registerOf } from '../simulator/device/device.js'
import { ATTESTED_ENCLAVE } from './settings.js'

const THRESHOLD = 2
/** Their files in the sandbox's directory. The first is the owner's, to whom the enclave reports. */
const HOLDERS = ['holder', 'holder-2', 'holder-3']
/** The platform's name in the sandbox's build, and so in its settings. */
export const SANDBOX_SETTINGS = attestedSettings([TEST_FORMAT])

/** What people know of an attested enclave once its keys are born. */
export type Attested = Awaited<ReturnType<typeof giveBirth>>

/** Makes the holders' keys and the device, and opens a second door of the chain's node, which `cleanUp` closes. */
export async function prepareAttested(
  directory: string,
  ports: { readonly rpc: number; readonly witness: number },
  cleanUp: AsyncDisposableStack,
) {
  const device = join(directory, 'device')
  const root = await makeDevice(device)
  // Each of the two ends with the other.
  const pass = (socket: Socket) => pipeline(socket, connect(ports.rpc, '127.0.0.1'), socket, () => undefined)
  const witness = createServer(pass).listen(ports.witness, '127.0.0.1')
  await once(witness, 'listening')
  cleanUp.defer(async () => void witness.close())
  const holders = HOLDERS.map((holder) => makeHolderKey(join(directory, `${holder}.key`)))
  return {
    device,
    /** SHA-256 of the certificate of the device's root. */
    root,
    /** Private keys. */
    holders: holders.map(({ privateKey }) => privateKey.reveal()),
    /** The settings that it has in place of those of keys in files. */
    settings: {
      // The same node at another port: a witness is another host, and a sandbox has one chain.
      RPC_WITNESS_URL: `http://127.0.0.1:${ports.witness}`,
      ATTESTATION_PLATFORM: TEST_FORMAT,
      MASTER_KEY_HOLDERS: holders.map(({ publicKey }) => publicKey).join(),
      MASTER_KEY_THRESHOLD: String(THRESHOLD),
    },
  }
}

/** The one accepted program: the built file, or another one, with the configuration in the directory. */
export async function policyOf(directory: string, program = ATTESTED_ENCLAVE): Promise<AcceptedProgram[]> {
  const config = loadSettings(SANDBOX_SETTINGS, { ENCLAVE_ENV_FILE: join(directory, '.env.enclave') })
  const pcrs = { 0: bytesToHex(registerOf(readFileSync(program))).slice(2) }
  return [{ label: 'sandbox', pcrs, configuration: await configDigest(configurationOf(config)) }]
}

/** Has the first holder found a master key, and as many as it takes accept and give their shares. `born` is verified. */
export async function giveBirth(
  directory: string,
  setup: Awaited<ReturnType<typeof prepareAttested>>,
  { rpcUrl, enclaveUrl }: Readonly<Record<'rpcUrl' | 'enclaveUrl', string>>,
  triggerSecret: string,
  { keyId, secretKey }: Readonly<Record<'keyId' | 'secretKey', string>>,
) {
  const at = (name: string) => join(directory, name)
  const env = { RPC_URL: rpcUrl, ENCLAVE_TRIGGER_SECRET: triggerSecret }
  const policy = at('policy.json')
  const attest = async (...args: string[]) => {
    const said: string[] = []
    const stream = { write: (text: string) => said.push(text) }
    const process = { env, input: Readable.from([]), out: stream, err: stream, untilEnded: AbortSignal.abort }
    const all = ['attest', ...args, '--policy', policy, '--directory', directory, '--yes']
    const exit = await runOperate(all, process, createStartingVerifier(setup.root, TEST_FORMAT))
    if (exit !== 0) throw new Error(said.join(''))
  }
  const programs = await policyOf(directory)
  await writeFile(policy, JSON.stringify(programs), { mode: 0o600 })
  await writeFile(at('broker.json'), JSON.stringify({ keyId, secretKey }), { mode: 0o600 })
  const ofHolder = (holder: string) => ['--key-file', at(`${holder}.key`)]
  const [owner = '', ...others] = HOLDERS
  await attest('found', '--enclave-url', enclaveUrl, ...ofHolder(owner))
  for (const holder of [owner, ...others.slice(0, THRESHOLD - 1)]) {
    const share = at(`${holder}.share`)
    await attest('accept', '--shares', at('shares.json'), '--out', share, ...ofHolder(holder))
    const given = ['--share', share, ...(holder === owner ? ['--broker-keys', at('broker.json')] : [])]
    await attest('provision', '--enclave-url', enclaveUrl, ...given, ...ofHolder(holder))
  }
  const asked = { from: { enclaveUrl, env }, policy, named: undefined }
  const verify = createVerifier(BORN, setup.root, TEST_FORMAT)
  const born = await attestedSigner(asked, readDeployment(directory), verify)
  return { ...setup, programs, born }
}
