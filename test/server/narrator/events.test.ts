import { expect, test } from 'vitest'
import { interfaces } from '../../../src/chain/interfaces.js'
import type { LogQuery } from '../../../src/chain/logReader.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { everyContract, queriesOf } from '../../../src/server/narrator/events.js'
import { formatDistance, formatTime } from '../../../src/server/narrator/lines.js'
import { batchBurn, batchMint, policyUpdate, signedCall } from '../../support/authorizations.js'
import { INTERFACES, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, ORG, setUpInstitution, shares, soon, USDC, usd } from '../../support/institution.js'
import { refundOrder, settleOrder } from '../../support/orderEnds.js'
import { storedText } from '../../support/storedRows.js'
import { actsOn } from './narratorUnderTest.js'

const chain = useChain(setUpInstitution)
const { atHead, mine, revert, snapshot } = actsOn(chain)

/** Values that no line may contain: names in any spelling, and everything that identifies a person. */
const CANARY_ORG = 'Canary Capital'
const CANARY_SYMBOL = 'CANARY'
const SYMBOL = nameToBytes32(CANARY_SYMBOL)
const ORDER_IDS = ['canary 1', 'canary 2', 'canary 3', 'canary 4'].map(bytes32)

test('every event that our contracts declare is narrated, thirteen kinds of them without a setting', async () => {
  const inherited = ['EIP712DomainChanged', 'Transfer', 'Approval', 'OperatorSet']
  const { registry, escrow, ledger, token, pool, authority } = INTERFACES
  const contracts = [registry, escrow, ledger, token, pool, authority, interfaces.corporateActions]
  const declared = contracts.map((contract) => {
    const topics: string[] = []
    contract.forEachEvent(({ name, topicHash }) => {
      if (!inherited.includes(name)) topics.push(topicHash)
    })
    return topics.sort()
  })
  const topicsOf = (queries: readonly LogQuery[]) =>
    queries.map(({ topics: [topics] }) => [topics ?? []].flat())
  const whole = queriesOf(await everyContract(chain().provider, chain().addresses))
  expect(whole).toHaveLength(contracts.length)
  const remedy = 'narrate the event by a row in src/server/narrator/events.ts'
  expect(
    topicsOf(whole).map((topics) => topics.toSorted()),
    remedy,
  ).toEqual(declared)
  expect(topicsOf(queriesOf(chain().addresses)).flat()).toHaveLength(13)
})

async function everyEvent(): Promise<{ deadline: number }> {
  const { send, account } = chain()
  const relayed = (authorization: Parameters<typeof signedCall>[1]) =>
    send('relayer', ...signedCall(chain(), authorization))
  const deadline = await soon(chain())
  await send('dave', 'registry', 'registerInstitution', nameToBytes32(CANARY_ORG))
  await send('admin', 'registry', 'transferAdmin', account('alice'))
  await send('alice', 'registry', 'acceptAdmin', ORG)
  await send('alice', 'registry', 'setMember', account('bob'), false)
  await send('owner', 'token', 'setKyc', account('dave'), true)
  await send('owner', 'token', 'setListed', SYMBOL, true)
  await send('owner', 'token', 'setFrozen', SYMBOL, account('dave'), true)
  await send('alice', 'escrow', 'openBuy', bytes32('canary 1'), bytes32('sealed'), usd(1_000), deadline)
  await settleOrder(chain(), bytes32('canary 1'), { payoutAsset: USDC, payout: usd(250) })
  await relayed(policyUpdate(ORG, account('alice')))
  await relayed(batchMint(SYMBOL, shares(5)))
  await relayed(batchBurn(SYMBOL, shares(2), { expectedSupply: shares(5), batch: 2n }))
  await send('alice', 'escrow', 'openRequest', bytes32('canary 2'), bytes32('sealed'), deadline)
  await settleOrder(chain(), bytes32('canary 2'), { payoutAsset: SYMBOL, payout: 1_234_567_890n })
  await send('alice', 'escrow', 'openBuy', bytes32('canary 3'), bytes32('sealed'), 12_345_678n, deadline)
  await refundOrder(chain(), bytes32('canary 3'))
  await send('alice', 'escrow', 'openRequest', bytes32('canary 4'), bytes32('sealed'), deadline)
  await settleOrder(chain(), bytes32('canary 4'))
  return { deadline }
}

/** Where each of them may show: as it is, as the node writes it, as a number, and in what other programs write bytes. */
function spellings(hex: Hex): string[] {
  const digits = hex.slice(2).toLowerCase()
  const short = digits.replace(/^0+/, '').replace(/(00)+$/, '')
  const bytes = Buffer.from(digits, 'hex')
  return [
    short,
    BigInt(hex).toString(),
    bytes.toString('base64').slice(0, 20),
    bytes.toString('base64url').slice(0, 20),
  ]
}

const secrets = () => [
  CANARY_ORG,
  CANARY_SYMBOL,
  'Acme',
  ...[SYMBOL, ORG, nameToBytes32(CANARY_ORG), ...ORDER_IDS, bytes32('sealed')].flatMap(spellings),
  ...(['alice', 'bob', 'dave', 'admin', 'owner', 'relayer'] as const).map(chain().account).flatMap(spellings),
]

const LINES = [
  ['[registry] institution registered'],
  // The admin changes places with the member that takes over.
  ['[registry] member updated'],
  ['[registry] member updated'],
  ['[registry] admin transferred'],
  ['[registry] member updated'],
  ['[token] kyc updated'],
  ['[token] listing updated'],
  ['[token] freeze updated'],
  ['[escrow] order opened', '1,000.00 USDC', 'THE DEADLINE'],
  ['[escrow] order settled', '1,000.00 USDC', 'payout 250.00 USDC'],
  ['[ledger] portfolio updated', 'version 1'],
  ['[ledger] rulebook updated', 'version 1'],
  ['[pool] batch minted', '5.000000000 shares', 'supply 5.000000000 shares'],
  ['[pool] batch burned', '2.000000000 shares', 'supply 3.000000000 shares'],
  ['[escrow] order opened', '0.00 USDC', 'THE DEADLINE'],
  ['[escrow] order settled', '0.00 USDC', 'payout 1.234567890 shares'],
  ['[ledger] portfolio updated', 'version 2'],
  ['[escrow] order opened', '12.345678 USDC', 'THE DEADLINE'],
  ['[escrow] order refunded', '12.345678 USDC'],
  ['[ledger] portfolio updated', 'version 3'],
  ['[escrow] order opened', '0.00 USDC', 'THE DEADLINE'],
  ['[escrow] order settled', '0.00 USDC'],
  ['[ledger] portfolio updated', 'version 4'],
]

/** A line's parts. Replaces the deadline by a placeholder where it is right, as counted from the line's own time. */
function partsOf(line: string, deadline: number): string[] {
  const [, time = '', rest = ''] = /^(\S+) +(.*)$/.exec(line) ?? []
  const distance = formatDistance(BigInt(deadline), BigInt(Date.parse(time) / 1_000))
  return rest.split(/ {2,}/).map((part) => (part === `deadline ${distance}` ? 'THE DEADLINE' : part))
}

test('each event is one line of amounts, deadlines and versions, in chain order, and nothing else', async () => {
  const narrator = await atHead()
  const firstBlock = (await chain().provider.getBlockNumber()) + 1
  const { deadline } = await everyEvent()
  await eventually('the last event', () => narrator.lines.length === LINES.length)
  expect(narrator.lines.map((line) => partsOf(line, deadline))).toEqual(LINES)
  const first = await chain().provider.getBlock(firstBlock)
  expect(narrator.lines[0]).toContain(formatTime(BigInt(first?.timestamp ?? 0)))
})

// test/server/narrator/lines.test.ts has JSON, which is made of the same amounts, deadlines and versions.
test('nothing that identifies somebody is printed, in colour too, logged or kept, told or retracted', async () => {
  const output = { isTTY: true, hasColors: () => true }
  const narrator = await atHead({ env: { NARRATOR_FORMAT: 'auto' }, output })
  const fork = await snapshot()
  await everyEvent()
  await eventually('the last event', () => narrator.lines.length === LINES.length)
  const kept = storedText(narrator.dataDir, 'state', 'narrator') ?? ''
  expect(kept).not.toBe('')
  await revert(fork)
  await mine(0x20)
  await eventually('the retractions', () => narrator.lines.length === 2 * LINES.length)
  const text = `${narrator.lines.join('\n')}\n${narrator.log.text()}`
  expect(text).not.toMatch(/0x|[0-9a-f]{16}/i)
  for (const secret of secrets()) {
    expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
    expect(kept.toLowerCase()).not.toContain(secret.toLowerCase())
  }
})

test('the setting for all adds the further events, with amounts and times alone', async () => {
  const narrator = await atHead({ env: { NARRATOR_FORMAT: 'text-all' } })
  const { send, account } = chain()
  await send('dave', 'registry', 'registerInstitution', nameToBytes32(CANARY_ORG))
  await send('owner', 'registry', 'setAdmitted', nameToBytes32(CANARY_ORG), account('dave'), true)
  await send('dave', 'registry', 'transferAdmin', account('relayer'))
  await send('alice', 'usdc', 'transfer', chain().addresses.confidentialLedger, usd(3))
  await send('relayer', 'ledger', 'sweepUsdc')
  await send('owner', 'pool', 'transferTreasury', usd(2))
  await send('owner', 'escrow', 'approveClaimRecipient', account('alice'), USDC, account('bob'))
  await send('guardian', 'authority', 'revokeMeasurement', bytes32('canary 1'))
  await send('guardian', 'authority', 'pause')
  await send('owner', 'authority', 'liftPause')
  await eventually('the last event', () => narrator.lines.length === 9)
  const words = narrator.lines.map((line) => line.replace(/^\S+ +/, '').split(/ {2,}/))
  expect(words).toEqual([
    ['[registry] institution registered'],
    ['[registry] admission updated'],
    ['[registry] admin proposed'],
    ['[pool] usdc swept', '3.00 USDC'],
    ['[pool] treasury moved', '2.00 USDC'],
    ['[escrow] claim recipient approved'],
    ['[authority] measurement revoked'],
    ['[authority] platform paused', expect.stringMatching(/^until in \d+ /)],
    ['[authority] pause lifted'],
  ])
  const text = narrator.lines.join('\n').toLowerCase()
  for (const secret of secrets()) expect(text).not.toContain(secret.toLowerCase())
})
