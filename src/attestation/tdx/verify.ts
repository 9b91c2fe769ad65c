// Evidence of dstack: a quote of Intel TDX, the log of what was started, and what Intel says of the processor.
import type { Bytes } from '../../protocol/hex.js'
import { hexText, sha256 } from '../bytes.js'
import { isBytes, isMap, readCbor } from '../cbor.js'
import { type Certificate, verifyChain } from '../certificates.js'
import { demand } from '../errors.js'
import type { Registers } from '../nitro.js'
import { readCollateral, verifyCollateral } from './collateral.js'
import { type LoggedEvent, readEvents, replay } from './events.js'
import { judgePlatform } from './platform.js'
import { ES256, type Quote, readQuote, verifyQuote } from './quote.js'

/** SHA-256 of the DER of Intel's root certificate "Intel SGX Root CA", in force until 2049. */
export const INTEL_SGX_ROOT = '44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3'

/** The digest of the root's certificate, never from the evidence's sender, and Unix milliseconds. */
interface TrustInIntel {
  readonly root: string
  readonly now: number
}

/** @throws AttestationError with a code from `malformed-evidence` to `log-differs` */
export async function verifyDstack(evidence: Bytes, trust: TrustInIntel) {
  const { quote, events, collateral } = readEvidence(evidence)
  const processor = await verifySigned(quote, trust)
  demand(quote.machine.tdAttributes[0] === 0, 'debug-mode')
  demand(collateral !== undefined, 'collateral-missing')
  const signed = await verifyCollateral(collateral, quote.chain, trust.now)
  judgePlatform(quote, processor, signed)
  const { reportData } = quote.machine
  return {
    map: 'tdx' as const,
    registers: await registersOf(quote, events),
    userData: hexText(reportData.subarray(0, 32)),
    nonce: hexText(reportData.subarray(32)),
    issuedAt: Date.parse(signed.tcbInfo.issueDate ?? ''),
  }
}

/**
 * Verifies that a processor of Intel signed the quote. Whether Intel still stands by it is in the collateral.
 * @returns the processor's certificate
 * @throws AttestationError `unknown-root`, `invalid-signature` and those of chains
 */
export async function verifySigned(quote: Quote, { root, now }: TrustInIntel): Promise<Certificate> {
  const [rootDer = new Uint8Array()] = quote.chain
  demand((await sha256(rootDer)) === root, 'unknown-root')
  const processor = await verifyChain(quote.chain, now, ES256)
  await verifyQuote(quote, processor)
  return processor
}

/** The registers of a policy, in hex. @throws AttestationError `log-differs` */
export async function registersOf({ machine }: Quote, events: readonly LoggedEvent[]): Promise<Registers> {
  const { mrtd, rtmr0, rtmr1, rtmr2, rtmr3 } = machine
  const measured = Object.entries({ mrtd, rtmr0, rtmr1, rtmr2 }).map(([name, value]) => [
    name,
    hexText(value),
  ])
  return { ...Object.fromEntries(measured), ...(await replay(events, hexText(rtmr3))) }
}

function readEvidence(evidence: Bytes) {
  const map = readCbor(evidence)
  demand(isMap(map))
  const [quote, collateral] = [map.get('quote'), map.get('collateral')]
  demand(isBytes(quote))
  return {
    quote: readQuote(quote),
    events: readEvents(map.get('events')),
    collateral: collateral === undefined ? undefined : readCollateral(collateral),
  }
}
