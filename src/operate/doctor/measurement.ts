import { sha256 } from '../../attestation/bytes.js'
import { AttestationError, demand } from '../../attestation/errors.js'
import { AWS_NITRO_ROOT, type Claims, verifyNitro } from '../../attestation/nitro.js'
import { measurementOf } from '../../attestation/policy.js'
import { BORN, readStatement, type Statement } from '../../attestation/statement.js'
import { dstackBelow } from '../../attestation/tdx/index.js'
import { INTEL_SGX_ROOT } from '../../attestation/tdx/verify.js'
import { createAuthorityView } from '../../chain/authorityView.js'
import type { Authority } from '../../chain/contracts.js'
import { isChainFailure } from '../../chain/errors.js'
import { createRpc } from '../../chain/rpc.js'
import { isSameProgram, type SignerProgram } from '../../chain/signerProgram.js'
import { sameAddress } from '../../protocol/address.js'
import { type EnclaveKey, enclaveKeySchema } from '../../protocol/enclaveKey.js'
import { type Finding, fault, notice, ok, unchecked } from '../../protocol/finding.js'
import { bytesToHex, type Hex } from '../../protocol/hex.js'
import { compressPoint } from '../../protocol/publicKey.js'
import type { Config } from '../../server/config/config.js'

const CHECK = 'same-measurement'
const TIMEOUT_MS = 5_000

/**
 * Whether the evidence that the running server shows is of the program and signer that the chain names, of this deployment and of the
 * shown key: clients refuse any other. Which programs are to be trusted is in the clients' policies, and not judged here.
 * @param options the roots that evidence has to descend from, of AWS and of Intel; `now` in Unix milliseconds
 */
export async function checkMeasurement(
  { chain, http }: Pick<Config, 'chain' | 'http'>,
  { root = AWS_NITRO_ROOT, intel = INTEL_SGX_ROOT, now = Date.now() } = {},
): Promise<Finding> {
  const shown = await readEnclaveKey(http)
  if (shown === undefined) return unchecked(CHECK, 'no server answers at PORT: what it shows is not known')
  try {
    const authority = await authorityOf(chain)
    const named = await authority.signerProgram()
    if (shown.attestation === undefined) return withoutEvidence(named)
    const { format, evidence, statement } = shown.attestation
    const bytes = Uint8Array.from(Buffer.from(evidence, 'base64'))
    const claims = await (format === 'aws-nitro'
      ? verifyNitro(bytes, { root, now })
      : dstackBelow(intel)(format, bytes, now))
    if (claims === undefined) return unchecked(CHECK, `evidence of ${format} is judged by its clients alone`)
    const found = await programIn(claims, statement)
    const other = differing(found.statement, shown, await authority.enclaveSigner())
    if (other !== undefined) return fault(CHECK, `the evidence is of another ${other}: clients refuse it`)
    if (await authority.isRevoked(found.measurement))
      return fault(CHECK, `the guardian has revoked the program ${found.measurement}: clients refuse it`)
    return judge(found, named)
  } catch (error) {
    if (error instanceof AttestationError)
      return fault(
        CHECK,
        `the evidence that the server shows does not hold (${error.code}): clients refuse it`,
      )
    if (isChainFailure(error)) return unchecked(CHECK, 'the nodes do not say which program the chain names')
    throw error
  }
}

function withoutEvidence(named: SignerProgram | null): Finding {
  return named === null
    ? ok(CHECK, 'keys in files: the chain names no program, and the server shows no evidence of one')
    : fault(
        CHECK,
        `the chain names the program ${named.measurement}, and the server shows no evidence: clients refuse \
it; see why the enclave posts none`,
      )
}

function judge(found: SignerProgram, named: SignerProgram | null): Finding {
  const { measurement, config } = found
  if (named === null) {
    const text = `the chain names no program, the evidence is of ${measurement}`
    return notice(CHECK, `${text}: have the owner run npm run operate -- signer --attestation`)
  }
  if (isSameProgram(found, named))
    return ok(CHECK, `evidence and chain name the program ${measurement} and its configuration`)
  const differing = measurement === named.measurement ? 'configuration' : 'program'
  const [is, has] = differing === 'program' ? [measurement, named.measurement] : [config, named.config]
  const text = `the enclave's ${differing} is ${is} by its evidence, the chain names ${has}: clients refuse it`
  return fault(CHECK, `${text}; start the named one, or rotate the signer with this one's evidence`)
}

async function authorityOf({
  rpcUrls,
  rpcTimeoutMs,
  chainId,
  contracts,
}: Config['chain']): Promise<Authority> {
  const rpc = createRpc({ urls: rpcUrls.reveal(), timeoutMs: rpcTimeoutMs, chainId })
  return createAuthorityView(rpc)(contracts.orderEscrow)
}

/** What the statement says otherwise than server and chain. */
function differing(stated: Statement, shown: EnclaveKey, signer: Hex): string | undefined {
  if (stated.chainId !== shown.chainId || !sameAddress(stated.escrow, shown.escrow)) return 'deployment'
  if (!sameAddress(stated.signer, signer)) return "signer than the chain's"
  return stated.sealKey === bytesToHex(compressPoint(shown.publicKey)) ? undefined : 'key than the shown one'
}

/** @param text the statement. @throws AttestationError unless the hardware says so */
async function programIn({ map, registers, userData }: Claims, text: string) {
  demand((await sha256(text)) === userData, 'statement-differs')
  return {
    ...(await readStatement(text, BORN)),
    measurement: await measurementOf(map, registers),
  }
}

/** Undefined where nothing answers as the server does. */
async function readEnclaveKey({ host = '127.0.0.1', port }: Config['http']): Promise<EnclaveKey | undefined> {
  const name = host.includes(':') ? `[${host}]` : host
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await fetch(`http://${name}:${port}/enclave-key`, { redirect: 'error', signal })
    return enclaveKeySchema.safeParse(await answer.json()).data
  } catch {
    return undefined
  }
}
