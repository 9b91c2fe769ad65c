import { expect, it } from 'vitest'
import type { Statement, Verified } from '../../src/attestation/index.js'
import { attestedLines, changeWords } from '../../web/words/trust.js'

const NOW = new Date('2026-11-29T12:00:00')
const SECONDS = NOW.getTime() / 1_000 + 60
const MEASUREMENT = `0x${'ab'.repeat(32)}` as const
const statement: Statement = {
  ...({ v: 1, origin: 'born', scheme: 'service-ecies-v1', instance: 'x', boot: 1, chainId: 1 } as const),
  ...({ authority: '0x01', escrow: '0x02', sealKey: '0x03' } as const),
  signer: '0x00000000000000000000000000000000000000aa',
  configuration: {
    ...{ FURTHER: '1', MIN_ORDER: '1500000000', MASTER_KEY_THRESHOLD: '2', MASTER_KEY_HOLDERS: 'a,b,c' },
    ...{ RPC_URL: 'a.example,b.example', ALPACA_TRADING_URL: 'broker.example' },
  },
  build: { version: '0.3.0', digest: '00' },
}
const verified: Verified = {
  ...({ label: '0.3.0', map: 'pcrs', config: '0x02' } as const),
  ...{ statement, issuedAt: NOW.getTime(), measurement: MEASUREMENT },
}

it('the lines of an attested enclave name vendor, release, holders, signer, broker and who accepted them', () => {
  const said = attestedLines({ verified }, NOW)
  expect(said.hardware).toBe('Amazon vouches that it is a Nitro Enclave (12:00:00).')
  expect(said.program).toBe('Release 0.3.0, version 0.3.0, measured as 0xabab…abab.')
  expect(said.keys).toMatch(/Any 2 of the 3 holders .* read every order.* 0x0000…00aa is the chain’s/)
  expect(said.settings).toMatch(/this page’s operator wrote .* broker\.example/)
  const ofIntel = attestedLines({ verified: { ...verified, map: 'tdx' } }, NOW)
  expect(ofIntel.hardware).toMatch(/^Intel vouches .* \(by its word on the firmware of 12:00:00\)/)
})

it('an announced change says whether its program has proved itself to this page', () => {
  const next = { signer: '0x01', effectiveAt: SECONDS, measurement: MEASUREMENT } as const
  const known = changeWords({ ...next, verified }, NOW)
  expect(known.says).toMatch(/^From 12:01:00 on .*release 0\.3\.0, which this page accepts/)
  const unknown = changeWords(next, NOW)
  expect(unknown.says).toMatch(/0xabab…abab, has not proved itself.* is opened by that program/)
  expect([known.isKnown, unknown.isKnown]).toEqual([true, false])
  expect(changeWords({ ...next, measurement: undefined }, NOW).says).toContain('Nobody has said')
})
