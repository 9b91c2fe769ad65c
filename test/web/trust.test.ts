import { expect, it } from 'vitest'
import type { Statement, Verified } from '../../src/attestation/index.js'
import { attestedLines, changeWords, fileKeyLines, settingRows } from '../../web/words/trust.js'

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

it('the lines of keys in files prove nothing', () => {
  const said = Object.values(fileKeyLines('0x0279be667ef9dcbb')).join(' ')
  expect(said).toMatch(/No vendor vouches.*Not proved.*the operator has.*0x0279…dcbb.*Not proved/)
})

it('each stated setting is listed, one without words by its own name, after the others', () => {
  expect(settingRows(statement.configuration)).toEqual([
    ['Broker, which reads each order', 'broker.example'],
    ['Nodes of the chain', 'a.example, b.example'],
    ['Smallest order (USDC)', '1,500.00'],
    ['Holders who together can make the keys', '2'],
    ['All holders', 'a, b, c'],
    ['FURTHER', '1'],
  ])
})

it('an announced change says whether its program has proved itself to this page', () => {
  const next = { signer: '0x01', effectiveAt: SECONDS, measurement: MEASUREMENT } as const
  expect(changeWords({ ...next, verified }, NOW)).toMatchObject({
    isKnown: true,
    says: expect.stringMatching(/^From 12:01:00 on .*release 0\.3\.0, which this page accepts/),
  })
  expect(changeWords(next, NOW)).toMatchObject({
    isKnown: false,
    says: expect.stringMatching(
      /0xabab…abab, has not proved itself.* not ended by then is opened by that program/,
    ),
  })
  expect(changeWords({ ...next, measurement: undefined }, NOW).says).toContain('Nobody has said')
})
