import { expect, it } from 'vitest'
import { z } from 'zod'
import { type Cbor, readCbor } from '../../src/attestation/cbor.js'
import { encodeEvidence } from '../../src/attestation/tdx/write.js'
import { tdx } from './vectors.js'

const bytes = z.instanceof(Uint8Array)
const eventSchema = z.tuple([z.string(), bytes])
const evidenceSchema = z.object({
  quote: bytes,
  events: z.array(eventSchema),
  collateral: z.map(z.string(), z.union([z.string(), bytes])),
})

/** The members of the base's evidence. */
function readBase() {
  const evidence = Uint8Array.from(Buffer.from(tdx.base.attestation.evidence, 'base64'))
  const map = z.map(z.string(), z.custom<Cbor>()).parse(readCbor(evidence))
  return evidenceSchema.parse(Object.fromEntries(map))
}

const hex = (value: string | Uint8Array | undefined) => Buffer.from(value ?? '').toString('hex')

it('evidence is made of what dstack and Intel answer: events of RTMR3 alone, no padding, one certificate', () => {
  const { quote, events, collateral } = readBase()
  const boot = { imr: 0, event_type: 2_147_483_659, digest: 'ab', event: '', event_payload: '0954' }
  const log = events.map(([event, payload]) => ({ imr: 3, digest: '', event, event_payload: hex(payload) }))
  const signer = Buffer.from(collateral.get('signer') ?? '').toString('base64')
  const pem = `-----BEGIN CERTIFICATE-----\n${signer.replaceAll(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`
  const answered = encodeEvidence(
    { quote: `${hex(quote)}0000`, event_log: JSON.stringify([boot, ...log]), vm_config: '' },
    {
      ...{ tcb_info: collateral.get('tcb_info'), qe_identity: collateral.get('qe_identity') },
      tcb_info_signature: hex(collateral.get('tcb_info_signature')),
      qe_identity_signature: hex(collateral.get('qe_identity_signature')),
      ...{ root_ca_crl: hex(collateral.get('root_crl')), pck_crl: hex(collateral.get('pck_crl')) },
      tcb_info_issuer_chain: `${pem}${pem}`,
    },
  )
  expect(answered).toBe(tdx.base.attestation.evidence)
})
