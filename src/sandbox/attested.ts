// The sandbox's attested enclave: its device, the holders of its master key, and the ceremony at its start.
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import type { AcceptedProgram } from '../attestation/policy.js'
import { createStartingVerifier } from '../attestation/starting.js'
import { BORN, readStatement } from '../attestation/statement.js'
import { createVerifier, type Verified } from '../attestation/verify.js'
import { configDigest, configurationOf } from '../attestation/write.js'
import { attestedSettings } from '../enclave/attested/settings.js'
import { loadSettings } from '../enclave/commonConfig.js'
import { askStarting, found, provision } from '../operate/attest/ceremony.js'
import { askEvidence } from '../operate/attest/report.js'
import { draw, publicKeyOfKey } from '../operate/secretFiles.js'
import { type Attestation, TEST_FORMAT } from '../protocol/attestation.js'
import { bytesToHex, type Hex, hexToBytes } from '../protocol/hex.js'
import type { IntentDomain } from '../protocol/intentDomain.js'
import { openShare } from '../protocol/masterShare.js'
import { type Founding, sharesDigest } from '../protocol/provisioning.js'
import { makeDevice, registerOf } from '../simulator/device/device.js'
import { ATTESTED_ENCLAVE } from './serverProcess.js'

const THRESHOLD = 2
const HOLDERS = 3
/** The platform's name in the sandbox's build, and so in its settings. */
export const SANDBOX_SETTINGS = attestedSettings([TEST_FORMAT])

/** What people know of an attested enclave: its device's root, the holders' keys, the program and its configuration. */
export interface AttestedSetup {
  /** SHA-256 of the root's certificate. */
  readonly root: string
  readonly device: string
  /** Private keys; the first is the owner's. */
  readonly holders: readonly Hex[]
  /** The second door of the chain's node. */
  readonly witnessUrl: string
}

/** The settings that it has in place of those of keys in files. @param accountId of the account that trades */
export function settingsOf(
  { holders, witnessUrl }: AttestedSetup,
  accountId: string,
): Record<string, string> {
  return {
    RPC_WITNESS_URL: witnessUrl,
    ALPACA_ACCOUNT_ID: accountId,
    ATTESTATION_PLATFORM: TEST_FORMAT,
    MASTER_KEY_HOLDERS: holders.map(publicKeyOfKey).join(),
    MASTER_KEY_THRESHOLD: String(THRESHOLD),
  }
}

/** Draws the holders' keys, makes the device, and opens the second door, which `cleanUp` closes. */
export async function prepareAttested(
  directory: string,
  rpcUrl: string,
  cleanUp: AsyncDisposableStack,
): Promise<AttestedSetup> {
  const device = join(directory, 'device')
  const [root, witnessUrl] = await Promise.all([makeDevice(device), secondDoor(rpcUrl, cleanUp)])
  return { root, device, holders: Array.from({ length: HOLDERS }, draw.privateKey), witnessUrl }
}

/** The same node at another port: a witness is another host, and a sandbox has one chain. */
async function secondDoor(rpcUrl: string, cleanUp: AsyncDisposableStack): Promise<string> {
  const server = createServer((socket) => {
    const node = connect(Number(new URL(rpcUrl).port), '127.0.0.1')
    // Each of the two ends with the other.
    pipeline(socket, node, socket, () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUp.defer(async () => void server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

/** The one accepted program: the built file, or another one, with the configuration in the directory. */
export async function policyOf(directory: string, program = ATTESTED_ENCLAVE): Promise<AcceptedProgram[]> {
  const config = loadSettings(SANDBOX_SETTINGS, { ENCLAVE_ENV_FILE: join(directory, '.env.enclave') })
  const pcrs = { 0: bytesToHex(registerOf(readFileSync(program))).slice(2) }
  return [{ label: 'sandbox', pcrs, configuration: await configDigest(configurationOf(config)) }]
}

interface Ceremony {
  readonly setup: AttestedSetup
  readonly url: string
  readonly programs: readonly AcceptedProgram[]
  readonly domain: IntentDomain
  readonly secrets: {
    readonly enclaveBroker: { readonly keyId: string; readonly secretKey: string }
    readonly triggerSecret: string
  }
}

/**
 * Founds a master key, and has as many holders as it takes provision it, each after she has verified the evidence.
 * @returns the founding, whose shares only their holders open, and the verified evidence of the keys that were born
 * @throws AttestationError
 */
export async function foundAndProvision(
  ceremony: Ceremony,
): Promise<{ readonly founding: Founding; readonly born: Verified }> {
  const { setup, url, programs, domain, secrets } = ceremony
  const verify = createStartingVerifier(setup.root, TEST_FORMAT)
  const verified = async (document: Attestation) =>
    (await verify(document, { ...domain, programs, now: Date.now() })).statement
  const [owner = '0x'] = setup.holders
  const founding = await found(url, (await verified(await askStarting(url))).sealKey, owner)
  const { shares, ...document } = founding
  const isAbout = (await verified(document)).shares === sharesDigest(shares)
  if (!isAbout) throw new Error('the shares are not those of the evidence')
  const { keyId, secretKey } = secrets.enclaveBroker
  for (const [index, key] of setup.holders.slice(0, THRESHOLD).entries()) {
    const { sealKey } = await verified(await askStarting(url))
    const own = shares[index]
    if (own === undefined) throw new Error('there are fewer shares than holders')
    const share = await openShare(own, hexToBytes(key), ['share-of-holder', domain])
    const brokers = index === 0 ? { broker: { v: 1, keyId, secretKey } as const } : {}
    await provision(url, sealKey, domain, { share, key, ...brokers })
  }
  return { founding, born: await verifyKeys(ceremony) }
}

/** Asks for evidence of the enclave's keys by a challenge, and verifies it. @throws AttestationError */
export async function verifyKeys({ setup, url, programs, domain, secrets }: Ceremony): Promise<Verified> {
  const nonce = draw.privateKey()
  const attestation = await askEvidence({ ENCLAVE_TRIGGER_SECRET: secrets.triggerSecret }, url, nonce)
  // The chain has no signer yet: this one becomes it.
  const { statement } = await readStatement(attestation.statement, BORN)
  const verify = createVerifier(BORN, setup.root, TEST_FORMAT)
  return verify(attestation, { ...domain, programs, signer: statement.signer, nonce, now: Date.now() })
}
