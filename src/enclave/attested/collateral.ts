// What Intel signs of a processor, from Intel's own service, which asks for no account.
// https://api.portal.trustedservices.intel.com/content/documentation.html
import { latin1 } from '../../attestation/bytes.js'
import type { Certificate } from '../../attestation/certificates.js'
import { firmwareOf } from '../../attestation/tdx/platform.js'
import type { SignedByIntel } from '../../attestation/tdx/write.js'
import { bytesToHex, hexToBytes } from '../../protocol/hex.js'

/** Base URLs: of the service, and of what certificates name as the place of the root's list. */
export const INTEL = {
  service: 'https://api.trustedservices.intel.com',
  certificates: 'https://certificates.trustedservices.intel.com',
}

/** Intel signs anew long before the 30 days are over. */
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const TIMEOUT_MS = 20_000
const PROCESSOR_AUTHORITY = bytesToHex(latin1('PCK Processor CA')).slice(2)

/**
 * Fetches it when it is asked for, and anew once a day. What is there already stays while Intel does not answer, which is asked again each hour:
 * clients see by its dates how long it counts.
 * @returns rejects where nothing is there yet and Intel does not answer
 */
export function createCollateral(
  processor: Certificate,
  { service, certificates, now }: typeof INTEL & { readonly now: () => number },
): () => Promise<SignedByIntel> {
  const { fmspc } = firmwareOf(processor)
  const authority = processor.issuer.includes(PROCESSOR_AUTHORITY) ? 'processor' : 'platform'
  let kept: { readonly signed: SignedByIntel; readonly until: number } | undefined

  async function fetchAll(): Promise<SignedByIntel> {
    const [tcb, identity, pck_crl, root_crl] = await Promise.all([
      fetchText(`${service}/tdx/certification/v4/tcb?fmspc=${fmspc}`, 'tcbInfo'),
      fetchText(`${service}/tdx/certification/v4/qe/identity`, 'enclaveIdentity'),
      fetchBytes(`${service}/sgx/certification/v4/pckcrl?ca=${authority}&encoding=der`),
      fetchBytes(`${certificates}/IntelSGXRootCA.der`),
    ])
    return {
      ...{ tcb_info: tcb.text, tcb_info_signature: tcb.signature, signer: firstOf(tcb.chain) },
      ...{ qe_identity: identity.text, qe_identity_signature: identity.signature },
      ...{ root_crl, pck_crl },
    }
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

async function request(url: string): Promise<Response> {
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!answer.ok) throw new IntelError(answer.status)
  return answer
}

async function fetchBytes(url: string) {
  return new Uint8Array(await (await request(url)).arrayBuffer())
}

/** A text with its signature, and the chain of the certificate that signed it. The signature is of the text as it stands there. */
async function fetchText(url: string, member: 'tcbInfo' | 'enclaveIdentity') {
  const answer = await request(url)
  const form = new RegExp(
    `^\\s*{\\s*"${member}"\\s*:\\s*({.*})\\s*,\\s*"signature"\\s*:\\s*"(\\w+)"\\s*}\\s*$`,
    's',
  )
  const [, text = '', signature = ''] = form.exec(await answer.text()) ?? []
  const chain = decodeURIComponent(answer.headers.get('tcb-info-issuer-chain') ?? '')
  return { text, signature: hexToBytes(`0x${signature}`), chain }
}

/** DER of the first certificate of a text. */
function firstOf(pem: string) {
  const [, base64 = ''] = /^-----BEGIN CERTIFICATE-----([^-]+)/.exec(pem) ?? []
  return latin1(atob(base64.replaceAll(/\s/g, '')))
}

/** Intel answered with another status than 200. */
class IntelError extends Error {
  override readonly name = 'IntelError'

  constructor(status: number) {
    super(`Intel answered ${status}`)
  }
}
