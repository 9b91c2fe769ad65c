// What Intel signs about its processors for 30 days: levels of their firmware, the quoting enclave, revoked certificates.
// https://api.portal.trustedservices.intel.com/content/documentation.html
import type { Bytes } from '../../protocol/hex.js'
import { type Cbor, isBytes, isMap } from '../cbor.js'
import {
  type Certificate,
  hexOf,
  isSignedBy,
  readCertificate,
  signatureOf,
  timeOf,
  verifyChain,
  wholeOf,
} from '../certificates.js'
import { type Element, sequenceIn } from '../der.js'
import { AttestationError, demand } from '../errors.js'
import type { QeIdentity, TcbInfo } from './platform.js'
import { ES256 } from './quote.js'

const SEQUENCE_TAG = 0x30
/** A bit of a key's usage. */
const CRL_SIGN = 0x02
/** The place of a certificate's number. */
const SERIAL = 1
/** The second version of lists of revoked certificates. */
const VERSION_2 = '020101'

interface Collateral {
  readonly tcbInfo: SignedText
  readonly qeIdentity: SignedText
  /** The certificate whose key signed both. */
  readonly signer: Bytes
  /** Lists of revoked certificates: of the root, and of the processors' authority. */
  readonly rootCrl: Bytes
  readonly pckCrl: Bytes
}

interface SignedText {
  readonly text: string
  readonly signature: Bytes
}

/** @throws AttestationError `malformed-evidence` */
export function readCollateral(item: Cbor): Collateral {
  demand(isMap(item))
  const bytesOf = (name: string) => {
    const value = item.get(name)
    demand(isBytes(value))
    return value
  }
  const textOf = (name: string) => {
    const text = item.get(name)
    demand(typeof text === 'string')
    return { text, signature: bytesOf(`${name}_signature`) }
  }
  return {
    tcbInfo: textOf('tcb_info'),
    qeIdentity: textOf('qe_identity'),
    signer: bytesOf('signer'),
    rootCrl: bytesOf('root_crl'),
    pckCrl: bytesOf('pck_crl'),
  }
}

/**
 * Verifies that Intel signed the collateral, that it is in force, and that none of its certificates is revoked.
 * @param chain the quote's, which is verified: the root first
 * @param now Unix milliseconds
 * @throws AttestationError `collateral-expired`, `collateral-differs`, `certificate-revoked` and those of chains and signatures
 */
export async function verifyCollateral(
  collateral: Collateral,
  chain: readonly Bytes[],
  now: number,
): Promise<{ readonly tcbInfo: TcbInfo; readonly qeIdentity: QeIdentity }> {
  const [root, authority, processor] = chain.map((der) => readCertificate(der, ES256))
  demand(root !== undefined && authority !== undefined && processor !== undefined)
  const signer = await verifyChain([...chain.slice(0, 1), collateral.signer], now, ES256)
  const tcbInfo = await signedJson<TcbInfo>(collateral.tcbInfo, signer, now)
  const qeIdentity = await signedJson<QeIdentity>(collateral.qeIdentity, signer, now)
  await demandUnrevoked(collateral.rootCrl, root, [authority, signer], now)
  await demandUnrevoked(collateral.pckCrl, authority, [processor], now)
  return { tcbInfo, qeIdentity }
}

interface Dated {
  readonly issueDate?: string
  readonly nextUpdate?: string
}

async function signedJson<Value extends Dated>(
  { text, signature }: SignedText,
  signer: Certificate,
  now: number,
): Promise<Value> {
  const signed = new TextEncoder().encode(text)
  demand(await isSignedBy(signer.key, { signed, signature }, ES256), 'invalid-signature')
  const value: Value = parsed(text)
  demandInForce(Date.parse(value.issueDate ?? ''), Date.parse(value.nextUpdate ?? ''), now)
  return value
}

function parsed(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new AttestationError('malformed-evidence')
  }
}

function demandInForce(from: number, until: number, now: number): void {
  demand(from <= now && now <= until, 'collateral-expired')
}

async function demandUnrevoked(
  list: Bytes,
  issuer: Certificate,
  certificates: readonly Certificate[],
  now: number,
): Promise<void> {
  const [body, outer, sealed, ...beside] = sequenceIn(list)
  const signed = wholeOf(body)
  const [version, inner, name, from, until, ...further] = sequenceIn(signed)
  demand(hexOf(version) === VERSION_2 && beside.length === 0)
  demand(
    [outer, inner].every((each) => hexOf(each) === ES256.algorithm),
    'unsupported-algorithm',
  )
  const signature = signatureOf(sealed, ES256)
  demand(hexOf(name) === issuer.subject, 'collateral-differs')
  demand((issuer.usage & CRL_SIGN) > 0, 'certificate-misused')
  demand(await isSignedBy(issuer.key, { signed, signature }, ES256), 'invalid-signature')
  demandInForce(timeOf(from), timeOf(until), now)
  const revoked = new Set(revokedIn(further))
  demand(
    !certificates.some(({ signed: each }) => revoked.has(hexOf(sequenceIn(each)[SERIAL]))),
    'certificate-revoked',
  )
}

/** The serial numbers, in hex as DER has them. An empty list is left out, and the extensions are no sequence. */
function revokedIn([list]: readonly Element[]): string[] {
  if (list?.tag !== SEQUENCE_TAG) return []
  return sequenceIn(list.whole).map((entry) => hexOf(sequenceIn(wholeOf(entry))[0]))
}
