// Which openings the platform pays for as time goes by; test/server/intake/openings.test.ts has the rest.
import { expect, test } from 'vitest'
import { checksum } from '../../../src/protocol/address.js'
import type { OrderState } from '../../../src/protocol/api.js'
import { type Hex, ZERO_BYTES32 } from '../../../src/protocol/hex.js'
import { createOpeningQuota } from '../../../src/server/relay/openingQuota.js'
import { confirmed, failed, pendingRecord } from '../../../src/server/relay/record.js'
import type { RelayRecord } from '../../../src/server/store/receipts.js'
import type { MinedTransaction } from '../../../src/server/txManager/pendingTx.js'
import { ORG } from '../../support/institution.js'
import { createLogLines } from '../../support/logLines.js'
import { UNOPENED } from '../../support/orderEnds.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const ALICE = checksum(`0x${'a1'.repeat(20)}`)
const DAY_MS = 86_400_000
const digest = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`

type Failure = 'OrderIdTaken' | 'ERC20InsufficientBalance' | 'RefusedByNodes'

/** Digests of refunds: of orders that were written ahead, and of others. */
const [HELD, NOT_HELD] = [digest(1_000_000), digest(2_000_000)]
/** Unix seconds of each opening, and of each deadline but those that a test names. */
const OPENED = 1_700_000_000
const DEADLINE = OPENED + 3_600

interface Refund {
  readonly kind?: 'reclaimed'
  readonly time?: number
  readonly digest?: Hex | null
  readonly isCancelled?: boolean
}

async function setUp(deadline = DEADLINE) {
  const { engine } = await openStores(await temporaryDirectory())
  const clock = { ms: 20_000 * DAY_MS }
  const states = new Map<Hex, OrderState>()
  const failures = new Map<Hex, Failure>()
  const unsent = new Set<Hex>()
  const refunds = new Map<Hex, Refund>()
  let sent = 0
  const quota = createOpeningQuota({
    engine,
    membershipOf: async () => ({ orgId: ORG, admitted: true }),
    receipts: {
      async get(of) {
        if (of === HELD) return { ...recordOf(of), purpose: { kind: 'finish', orderId: of, account: ALICE } }
        if (of === NOT_HELD) return recordOf(of)
        if (unsent.has(of) || Number(of) > sent) return undefined
        return recordOf(of, failures.get(of))
      },
    },
    escrowed: async (orderId) => ({
      ...UNOPENED,
      account: ALICE,
      deadline,
      state: states.get(orderId) ?? 'OPEN',
    }),
    historyOf: async (orderId) => ({
      opened: { time: OPENED },
      ended: { kind: 'refunded', time: OPENED + 30, digest: NOT_HELD, ...refunds.get(orderId) },
    }),
    isCancelled: async (orderId) => refunds.get(orderId)?.isCancelled === true,
    now: () => clock.ms,
    logger: createLogLines().logger,
  })
  /** Takes places for so many more openings. @returns how many of them had one */
  async function take(count: number): Promise<Hex[]> {
    const taken: Hex[] = []
    for (let each = 0; each < count; each++) {
      const next = digest(sent + 1)
      try {
        await quota.reserve({ orderId: next, account: ALICE, digest: next })
        taken.push(next)
        sent++
      } catch (error) {
        expect(error).toMatchObject({ reason: { code: 'relay-quota-exhausted', quota: 'opening' } })
      }
    }
    return taken
  }
  const endAll = (orders: readonly Hex[], state: OrderState) => {
    for (const orderId of orders) states.set(orderId, state)
  }
  const retryAfterMs = () =>
    quota.reserve({ orderId: digest(sent + 1), account: ALICE, digest: digest(sent + 1) }).then(
      () => 0,
      (error) => error.reason.retryAfterMs,
    )
  return { quota, clock, take, endAll, failures, unsent, refunds, retryAfterMs }
}

function recordOf(of: Hex, failure?: Failure): RelayRecord {
  const call = { primaryType: 'RequestOpening', target: ALICE, data: '0x00000000' } as const
  const pending = pendingRecord({ ...call, digest: of, purpose: { kind: 'account', account: ALICE } })
  const mined = failure === 'RefusedByNodes' ? null : { ...MINED, hash: of }
  return failure === undefined
    ? confirmed(pending, mined)
    : failed(pending, mined, { name: failure, args: {} })
}

const MINED: Omit<MinedTransaction, 'hash'> = {
  to: ALICE,
  blockNumber: 1,
  blockHash: ZERO_BYTES32,
  gasUsed: 1n,
  succeeded: true,
  loggedBy: [],
}

test('an account whose orders settle places forty a day, and in the end has twenty places', async () => {
  const { take, endAll } = await setUp()
  for (let order = 0; order < 40; order++) endAll(await take(1), 'SETTLED')
  expect(await take(30)).toHaveLength(20)
})

test('an account whose orders are refused has one place a day left, until an order settles', async () => {
  const { take, endAll, clock, retryAfterMs } = await setUp()
  endAll(await take(12), 'REFUNDED')
  expect(await take(1)).toEqual([])
  expect(await retryAfterMs()).toBe(DAY_MS)
  clock.ms += DAY_MS + 1
  const again = await take(5)
  expect(again).toHaveLength(1)
  endAll(again, 'REFUNDED')
  expect(await take(1)).toEqual([])
  clock.ms += DAY_MS + 1
  const settled = await take(1)
  endAll(settled, 'SETTLED')
  expect(await take(5)).toHaveLength(2)
})

test('a refusal that shows long after the opening takes its place at once', async () => {
  const { take, endAll, clock } = await setUp()
  const [first, ...others] = await take(10)
  if (first === undefined) throw new Error('none was taken')
  clock.ms += 3 * DAY_MS
  expect(await take(1)).toEqual([])
  endAll([first], 'REFUNDED')
  expect(await take(1)).toEqual([])
  endAll(others, 'SETTLED')
  expect(await take(30)).toHaveLength(18)
})

test('an opening that cost the platform nothing gives its place back; one that the account made revert does not', async () => {
  const { take, failures, unsent, clock } = await setUp()
  const [taken, refused, own, lost] = await take(10)
  if (!taken || !refused || !own || !lost) throw new Error('too few were taken')
  failures.set(taken, 'OrderIdTaken').set(refused, 'RefusedByNodes').set(own, 'ERC20InsufficientBalance')
  unsent.add(lost)
  expect(await take(5)).toHaveLength(2)
  clock.ms += 60_001
  expect(await take(5)).toHaveLength(1)
})

test('an opening posted again takes its place once; one that failed takes another', async () => {
  const { quota, take, failures } = await setUp()
  const [first] = await take(9)
  if (first === undefined) throw new Error('none was taken')
  const again = () => quota.reserve({ orderId: first, account: ALICE, digest: first })
  await again()
  failures.set(first, 'ERC20InsufficientBalance')
  await again()
  await expect(again()).rejects.toMatchObject({ reason: { code: 'relay-quota-exhausted' } })
})

test.each<[string, Refund]>([
  ['was written ahead', { digest: HELD }],
  ['had no answer before its deadline', { time: DEADLINE }],
  ['had none at all, and was reclaimed', { kind: 'reclaimed', time: DEADLINE + 700_000, digest: null }],
])('an order that %s gives its place back, and none is taken away', async (_what, refund) => {
  const { take, endAll, refunds, clock } = await setUp()
  const taken = await take(10)
  for (const orderId of taken) refunds.set(orderId, refund)
  endAll(taken, 'REFUNDED')
  expect(await take(20)).toHaveLength(10)
  clock.ms += DAY_MS + 1
  expect(await take(1)).toEqual([])
})

test.each<[string, number, Refund]>([
  ['a deadline that leaves no time for an answer', OPENED + 60, { time: OPENED + 90 }],
  ['a cancel after the write-ahead', DEADLINE, { digest: HELD, isCancelled: true }],
])('%s is the account’s own', async (_what, deadline, refund) => {
  const { take, endAll, refunds } = await setUp(deadline)
  const taken = await take(10)
  for (const orderId of taken) refunds.set(orderId, refund)
  endAll(taken, 'REFUNDED')
  expect(await take(20)).toEqual([])
})
