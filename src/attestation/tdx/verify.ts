// Evidence of dstack: a quote of Intel TDX, the log of what was started, and what Intel says of the processor.
import type { Bytes } from '../../protocol/hex.js'
import { hexText, sha256 } from '../bytes.js'
import { isBytes, isMap, readCbor } from '../cbor.js'
import { verifyChain } from '../certificates.js'
import { demand } from '../errors.js'
import { readCollateral, verifyCollateral } from './collateral.js'
import { readEvents, replay } from './events.js'
import { judgePlatform } from './platform.js'
import { ES256, type Quote, readQuote, verifyQuote } from './quote.js'

/** SHA-256 of the DER of Intel's root certificate "Intel SGX Root CA", in force until 2049. */
export const INTEL_SGX_ROOT = '44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3'

/**
 * @param trust the digest of the root's certificate, never from the evidence's sender; `now` in Unix milliseconds
 * @throws AttestationError with a code from `malformed-evidence` to `log-differs`
 */
export async function verifyDstack(
  evidence: Bytes,
  { root, now }: { readonly root: string; readonly now: number },
) {
  const { quote, events, collateral } = readEvidence(evidence)
  const [rootDer = new Uint8Array()] = quote.chain
  demand((await sha256(rootDer)) === root, 'unknown-root')
  const processor = await verifyChain(quote.chain, now, ES256)
  await verifyQuote(quote, processor)
  demand(quote.machine.tdAttributes[0] === 0, 'debug-mode')
  demand(collateral !== undefined, 'collateral-missing')
  const signed = await verifyCollateral(collateral, quote.chain, now)
  judgePlatform(quote, processor, signed)
  const issuedAt = Date.parse(signed.tcbInfo.issueDate ?? '')
  return { ...(await attestedBy(quote, events)), issuedAt }
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

async function attestedBy({ machine }: Quote, events: ReturnType<typeof readEvents>) {
  const { mrtd, rtmr0, rtmr1, rtmr2, rtmr3, reportData } = machine
  const measured = Object.entries({ mrtd, rtmr0, rtmr1, rtmr2 }).map(([name, value]) => [
    name,
    hexText(value),
  ])
  return {
    map: 'tdx' as const,
    registers: { ...Object.fromEntries(measured), ...(await replay(events, hexText(rtmr3))) },
    userData: hexText(reportData.subarray(0, 32)),
    nonce: hexText(reportData.subarray(32)),
  }
}
