// What Intel signs of a processor, from Intel's own service, which asks for no account.
// https://api.portal.trustedservices.intel.com/content/documentation.html
import { hexText, latin1 } from '../../attestation/bytes.js'
import type { Certificate } from '../../attestation/certificates.js'
import { AttestationError } from '../../attestation/errors.js'
import { readCollateral, verifyCollateral } from '../../attestation/tdx/collateral.js'
import { firmwareOf } from '../../attestation/tdx/platform.js'
import type { SignedByIntel } from '../../attestation/tdx/write.js'
import { type Bytes, hexToBytes } from '../../protocol/hex.js'
import { MachineError } from './machine.js'

/** Base URLs: of the service, and of what certificates name as the place of the root's list. */
export const INTEL = {
  service: 'https://api.trustedservices.intel.com',
  certificates: 'https://certificates.trustedservices.intel.com',
}

/** Intel signs anew long before the 30 days are over. */
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const TIMEOUT_MS = 20_000
const PROCESSOR_AUTHORITY = hexText(latin1('PCK Processor CA'))

/**
 * Fetches on demand, and anew once a day. While no answer of Intel verifies, the last that did stays and Intel is asked hourly. Its dates tell
 * clients how long it counts.
 * @param chain the quote's, which is verified
 * @returns rejects where nothing is there yet and no answer of Intel verifies
 */
export function createCollateral(
  processor: Certificate,
  chain: readonly Bytes[],
  { service, certificates, now }: typeof INTEL & { readonly now: () => number },
): () => Promise<SignedByIntel> {
  const { fmspc } = firmwareOf(processor)
  const authority = processor.issuer.includes(PROCESSOR_AUTHORITY) ? 'processor' : 'platform'
  let kept: { readonly signed: SignedByIntel; readonly until: number } | undefined

  async function fetchAll(): Promise<SignedByIntel> {
    const bytesOf = async (url: string) => (await request(url)).bytes
    const [tcb, identity, pck_crl, root_crl] = await Promise.all([
      fetchText(`${service}/tdx/certification/v4/tcb?fmspc=${fmspc}`, 'tcbInfo'),
      fetchText(`${service}/tdx/certification/v4/qe/identity`, 'enclaveIdentity'),
      bytesOf(`${service}/sgx/certification/v4/pckcrl?ca=${authority}&encoding=der`),
      bytesOf(`${certificates}/IntelSGXRootCA.der`),
    ])
    const signed = {
      ...{ tcb_info: tcb.text, tcb_info_signature: tcb.signature, signer: firstOf(tcb.chain) },
      ...{ qe_identity: identity.text, qe_identity_signature: identity.signature },
      ...{ root_crl, pck_crl },
    }
    await assertIntels(signed, chain, now())
    return signed
  }

  return async () => {
    if (kept !== undefined && now() < kept.until) return kept.signed
    try {
      kept = { signed: await fetchAll(), until: now() + DAY_MS }
    } catch (error) {
      if (kept === undefined) throw error
      kept = { ...kept, until: now() + HOUR_MS }
    }
    return kept.signed
  }
}

/** That a certificate is revoked is Intel's word, which clients have to see. @throws MachineError for what Intel has not signed, or is not in force */
async function assertIntels(signed: SignedByIntel, chain: readonly Bytes[], now: number): Promise<void> {
  try {
    await verifyCollateral(readCollateral(new Map(Object.entries(signed))), chain, now)
  } catch (error) {
    if (error instanceof AttestationError && error.code === 'certificate-revoked') return
    throw new MachineError('intel-unreadable', 'collateral')
  }
}

/** @throws MachineError, whose question is the last part of the URL's path */
async function request(url: string) {
  const asked = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    const { ok, headers, ...answer } = await exchange(url)
    if (ok) return { asked, headers, bytes: new Uint8Array(answer.body) }
  } catch {
    throw new MachineError('intel-unreachable', asked)
  }
  throw new MachineError('intel-refused', asked)
}

async function exchange(url: string) {
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  return { ok: answer.ok, headers: answer.headers, body: await answer.arrayBuffer() }
}

/** A text with its signature, and the chain of the certificate that signed it. The signature is of the text as it stands there. */
async function fetchText(url: string, member: 'tcbInfo' | 'enclaveIdentity') {
  const { asked, headers, bytes } = await request(url)
  const form = new RegExp(
    `^\\s*{\\s*"${member}"\\s*:\\s*({.*})\\s*,\\s*"signature"\\s*:\\s*"([0-9a-f]{128})"\\s*}\\s*$`,
    's',
  )
  const [, text, signature] = form.exec(new TextDecoder().decode(bytes)) ?? []
  if (text === undefined) throw new MachineError('intel-unreadable', asked)
  return { text, signature: hexToBytes(`0x${signature}`), chain: headers.get('tcb-info-issuer-chain') ?? '' }
}

/** DER of the first certificate of a text, whose line breaks and signs are escaped as in a URL. */
function firstOf(chain: string) {
  try {
    const [, base64] = /^-----BEGIN CERTIFICATE-----([^-]+)/.exec(decodeURIComponent(chain)) ?? []
    if (base64) return latin1(atob(base64.replaceAll(/\s/g, '')))
  } catch {
    // No text of a URL, or no Base64: no certificate either.
  }
  throw new MachineError('intel-unreadable', 'tcb')
}
