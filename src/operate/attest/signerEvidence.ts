// The signer that an attested enclave was born with, for the owner who names it.
import type { verifyAttestation } from '../../attestation/index.js'
import { createAuthorityView } from '../../chain/authorityView.js'
import { addressSchema, sameAddress, ZERO_ADDRESS } from '../../protocol/address.js'
import { type Attestation, attestationSchema } from '../../protocol/attestation.js'
import type { DeskSettings } from '../../protocol/deskSettings.js'
import { bytesToHex, type Hex } from '../../protocol/hex.js'
import { jsonOf } from '../../protocol/json.js'
import { isSecureUrl } from '../../protocol/secureUrl.js'
import type { Environment } from '../../service/config.js'
import { CommandError, usage } from '../../terminal/failure.js'
import type { Chain } from '../chain.js'
import type { DeploymentFile } from '../settings.js'
import { readJsonFile, readPolicy } from './jsonFile.js'
import { assertNamed, orRefused } from './refusal.js'
import { askEvidence } from './report.js'

const TIMEOUT_MS = 30_000
const NONCE_BYTES = 32

interface AttestedSigner {
  readonly signer: Hex
  /** The key that is sealed to. */
  readonly sealKey: Hex
  readonly measurement: Hex
  readonly config: Hex
  /** The accepted program's. */
  readonly label: string
}

/** Where the evidence is: the enclave itself, which gives it afresh, or a file or a URL. */
type EvidenceSource = { readonly enclaveUrl: string; readonly env: Environment } | { readonly source: string }

/**
 * Verifies evidence by the owner's policy, and that it is of this deployment.
 * @param from `source`: a file, or a URL that answers it: `{ format, evidence, statement }`, or an object that has it as `attestation`
 * @param named the signer that the evidence has to be of; undefined to take the one that it binds
 * @throws CommandError `evidence-refused`, `evidence-unreadable`, `evidence-unsupported`, `usage`, `server-unavailable`
 */
export async function attestedSigner(
  { from, policy, named }: { from: EvidenceSource; policy: string; named: Hex | undefined },
  { chainId, contracts, authority }: DeploymentFile,
  verify: typeof verifyAttestation,
): Promise<AttestedSigner> {
  const programs = readPolicy(policy)
  const { attestation, nonce } = await evidenceFrom(from)
  // The verifier compares with the chain's signer, and this one is to become it. What is read here is believed once it has verified the text.
  const claimed = addressSchema.safeParse(Object(jsonOf(attestation.statement)).signer).data
  const signer = named ?? claimed ?? ZERO_ADDRESS
  const expected = { programs, chainId, escrow: contracts.orderEscrow, signer, now: Date.now(), nonce }
  const { statement, measurement, config, label } = await orRefused(() => verify(attestation, expected))
  if (!sameAddress(statement.authority, authority)) {
    const text = `the evidence of the enclave does not hold: its authority is ${statement.authority}`
    throw new CommandError('evidence-refused', text, null, ['wrong-authority'])
  }
  const { signer: bound, sealKey } = statement
  return { signer: bound, sealKey, measurement, config, label }
}

async function evidenceFrom(from: EvidenceSource): Promise<{ attestation: Attestation; nonce?: Hex }> {
  if ('source' in from) return { attestation: await readAttestation(from.source) }
  const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  return { attestation: await askEvidence(from.env, from.enclaveUrl, nonce), nonce }
}

async function readAttestation(source: string): Promise<Attestation> {
  const found = /^https?:\/\//i.test(source) ? await fetchJson(source) : readJsonFile(source)
  const { data } = attestationSchema.safeParse(Object(found).attestation ?? found)
  if (data === undefined) throw usage(`${source} has no evidence of an enclave`)
  const { format, evidence, statement } = data
  return { format, evidence, statement }
}

async function fetchJson(url: string): Promise<unknown> {
  if (!isSecureUrl(url))
    throw usage('--attestation: expected a file, an https URL, or an http URL of this machine')
  try {
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    return jsonOf(await answer.text())
  } catch {
    throw new CommandError('server-unavailable', `${url} does not answer`)
  }
}

/**
 * The key that the enclave in force opens with: of the evidence that the server shows, by the page's programs and the chain's signer.
 * @throws CommandError as {@link attestedSigner} and {@link assertNamed} do
 */
export async function attestedSealKey(
  serverUrl: string,
  { measurements: programs = [] }: Pick<DeskSettings, 'measurements'>,
  {
    chain,
    deployment,
    verify,
  }: {
    readonly chain: Pick<Chain, 'rpc'>
    readonly deployment: DeploymentFile
    readonly verify: typeof verifyAttestation
  },
): Promise<Hex> {
  const { chainId, contracts } = deployment
  const escrow = contracts.orderEscrow
  const attestation = await readAttestation(`${serverUrl}/enclave-key`)
  const authority = await createAuthorityView(chain.rpc)(escrow)
  const signer = await authority.enclaveSigner()
  const expected = { programs, chainId, escrow, signer, now: Date.now() }
  const verification = await orRefused(() => verify(attestation, expected))
  await assertNamed(verification, authority)
  return verification.statement.sealKey
}
