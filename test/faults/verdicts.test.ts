// Each verdict against an outcome that is as it must be, and against the same outcome doctored.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Transaction, Wallet } from 'ethers'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.js'
import { bytes32 } from '../support/institution.js'
import { offer, orderJob, startResultServer } from '../support/residentHarness.js'
import { startResidentProcess } from '../support/residentProcess.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { type AuditEvent, allEvents } from './audit.js'
import { runsWithoutCancel } from './cancels.js'
import { type Case, faultsOfCase, faultsOfHoldings, faultsOfPortfolio } from './census.js'
import { judgeNarration, lateRows, narratorDeaths, sharedNonces, unsavedBroadcasts } from './history.js'
import { createNotes } from './notes.js'
import { faultsOf, type OpeningFacts } from './openings.js'
import { createPlan, FAULTS } from './plan.js'

const wallet = new Wallet(`0x${'07'.repeat(32)}`)
const RELAYER = `relayer:${wallet.address}`
/** Signed by the relayer's account. */
const sign = (data: string) =>
  wallet.signTransaction({ nonce: 7, to: wallet.address, data, gasLimit: 50_000, gasPrice: 1, chainId: 1 })
const A = await sign('0x11')
const B = await sign('0x22')

/** Numbered and timed by their places. */
function history(...events: Partial<AuditEvent>[]): AuditEvent[] {
  return events.map((event, index) => ({
    seq: index + 1,
    at: (index + 1) * 1_000,
    server: '0.1',
    kind: 'insert',
    table: 'relays',
    id: '0x01',
    isOpen: true,
    doc: '{}',
    ...event,
  }))
}

const take = (id: string, server: string): Partial<AuditEvent> => ({
  table: 'leases',
  id,
  server,
  doc: 'a-term',
})
const hashOf = (raw: string) => Transaction.from(raw).hash
const signed = (raw: string, server = '0.1'): Partial<AuditEvent> => ({
  server,
  kind: 'update',
  doc: JSON.stringify({ transactions: [{ nonce: 7, hash: hashOf(raw), raw }] }),
})
const sent = (raw: string, at: number, data = '0x11') => ({ raw, at, data, nonce: 7, from: wallet.address })

describe('a row of an earlier term', () => {
  const narrated = (server: string): Partial<AuditEvent> => ({ table: 'state', id: 'narrator', server })
  const run = (server: string, job: string): Partial<AuditEvent> => ({
    table: 'runs',
    server,
    doc: JSON.stringify({ job }),
  })

  test('before the take is in order, and so are rows that need no lease', () => {
    const events = history(
      take(RELAYER, '0.1'),
      signed(A),
      take(RELAYER, '1.1'),
      signed(B, '1.1'),
      { server: '0.1', doc: JSON.stringify({ transactions: [] }) },
      { server: '0.1', table: 'orders' },
      take('trigger', '1.1'),
      run('0.1', 'policy'),
    )
    expect(lateRows({ events, unseen: [] })).toEqual([])
  })

  test.each([
    ['narrator', narrated('0.1')],
    ['trigger', run('0.1', 'order')],
    ['trigger', run('0.1', 'reconcile')],
    [RELAYER, signed(A)],
    [RELAYER, { table: 'state', id: `no-op:${wallet.address}:7`, doc: '[]' }],
  ])('after the take of %s is found', (lease, row) => {
    const events = history(take(lease, '0.1'), take(lease, '1.1'), row)
    expect(lateRows({ events, unseen: [] })).toHaveLength(1)
  })

  test('a row that ran before the take and was committed after it is found', () => {
    const events = history(take('narrator', '0.1'), narrated('0.1'), take('narrator', '1.1'))
    expect(lateRows({ events, unseen: [] })).toEqual([])
    expect(lateRows({ events, unseen: [[3, 2]] })).toHaveLength(1)
  })
})

describe('a transaction on its way', () => {
  test('is in order where it was stored before, also once its bytes are dropped', () => {
    const events = history(signed(A), {
      kind: 'update',
      doc: JSON.stringify({ transactions: [{ nonce: 7, hash: hashOf(A) }] }),
    })
    expect(unsavedBroadcasts({ events }, [sent(A, 1_500), sent(A, 9_000)])).toEqual([])
  })

  test('is in order where it was stored as a no-op', () => {
    const doc = JSON.stringify([{ nonce: 7, hash: hashOf(A), raw: A }])
    const events = history({ table: 'state', id: `no-op:${wallet.address}:7`, doc })
    expect(unsavedBroadcasts({ events }, [sent(A, 1_500)])).toEqual([])
  })

  test('is found where it was stored after it was sent, or never', () => {
    const events = history(signed(A))
    expect(unsavedBroadcasts({ events }, [sent(A, 500)])).toEqual(['nonce 7: sent before it was saved'])
    expect(unsavedBroadcasts({ events }, [sent(B, 5_000)])).toEqual(['nonce 7: sent and never saved'])
  })
})

describe('two calls under one nonce', () => {
  const both = [sent(A, 2_000), sent(B, 3_000, '0x22')]

  test('are counted, and in order where both are stored', () => {
    const events = history(signed(A), signed(B))
    expect(sharedNonces({ events }, both)).toEqual({ shared: 1, violations: [] })
  })

  test('are found where one is not', () => {
    const { violations } = sharedNonces({ events: history(signed(A)) }, both)
    expect(violations).toEqual([
      `nonce 7 of ${wallet.address}: two calls were sent under it, one without a record`,
    ])
  })
})

describe('the narration of all servers', () => {
  const expected = ['a', 'b', 'b', 'c', 'd']
  const EMPTY: readonly string[] = []
  const judge = (told: readonly string[], deaths: number, { losses = 0, later = EMPTY } = {}) =>
    judgeNarration(expected, told, { deaths, losses, later })

  test('tells every event once, whatever the order of its lines', () => {
    expect(judge(['b', 'a', 'b', 'd', 'c'], 0)).toEqual({ missing: 0, repeated: 0, violations: [] })
  })

  test('is found where it tells an event twice, or one that never was', () => {
    expect(judge([...expected, 'b'], 9).violations).toEqual(['narrated once too often: b'])
    expect(judge([...expected, 'e'], 9).violations).toHaveLength(1)
  })

  test('may have told what came after the cursor that was read, once', () => {
    const later = ['d', 'e', 'f']
    expect(judge([...expected, 'e'], 0, { later })).toEqual({ missing: 0, repeated: 0, violations: [] })
    expect(judge([...expected, 'd', 'e'], 0, { later }).violations).toEqual([])
    expect(judge([...expected, 'e', 'e'], 0, { later }).violations).toEqual(['narrated once too often: e'])
    expect(judge(['a', 'b', 'b', 'c', 'e'], 0, { later })).toMatchObject({ missing: 1 })
  })

  test('may miss the lines of one look for each kill of a server that narrates', () => {
    expect(judge(['a', 'b', 'b'], 1)).toMatchObject({ missing: 2, violations: [] })
    expect(judge(['a', 'b', 'b'], 0).violations).toHaveLength(1)
    expect(judge(['b', 'b', 'd'], 1).violations).toHaveLength(1)
  })

  test('may repeat what came after the cursor that a failover has left, once', () => {
    const told = [...expected, 'c', 'd']
    expect(judge(told, 0, { losses: 1 })).toEqual({ missing: 0, repeated: 2, violations: [] })
    expect(judge([...told, 'd'], 0, { losses: 1 }).violations).toHaveLength(1)
    expect(judge([...expected, 'e'], 0, { losses: 1 }).violations).toHaveLength(1)
  })

  test('counts the kills of the server that narrated then', () => {
    const events = history(take('narrator', '0.1'), take('narrator', '1.1'))
    const deaths = [
      { at: 1_500, server: '0.1' },
      { at: 1_600, server: '1.1' },
      { at: 2_500, server: '0.2' },
      { at: 2_600, server: '1.1' },
    ]
    expect(narratorDeaths({ events }, deaths)).toBe(2)
  })
})

test('the notes of a lost database are counted once, together with the next one’s', () => {
  const before = history({}, {}, { id: 'lost' })
  const after = [...before.slice(0, 2), ...history({ seq: 3, at: 3_500, id: 'kept' })]
  const ids = allEvents([
    { events: before, unseen: [] },
    { events: after, unseen: [] },
  ]).map(({ id }) => id)
  expect(ids).toEqual(['0x01', '0x01', 'lost', 'kept'])
})

describe('an order with shares', () => {
  const account = { address: `0x${'a1'.repeat(20)}` as const }
  const HELD = 2_000_000_000n
  const deposit = { symbol: 'AAPL', shares: HELD }
  const settled = { state: 'SETTLED', amount: 0n, payout: 0n, payoutSymbol: null } as const
  const WALLET = `wallet ${account.address} AAPL`

  function caseOf(request: Case['order']['request'], escrow: Partial<NonNullable<Case['escrow']>>): Case {
    const order = { accepted: true, request, account, sealed: { orderId: `0x${'11'.repeat(32)}` as const } }
    return {
      order,
      escrow: { amount: 0n, deposit: null, opens: 1, ends: [settled], ...escrow },
      fill: undefined,
    }
  }
  const deposits = (changes: Partial<NonNullable<Case['escrow']>> = {}) =>
    caseOf({ side: 'DEPOSIT', symbol: 'AAPL', maxSpend: HELD }, { deposit, ...changes })
  const payout = { ...settled, payout: 3n * HELD, payoutSymbol: 'AAPL' }
  const clean = [
    caseOf({ side: 'WITHDRAW', symbol: 'AAPL', maxSpend: 3n * HELD }, { ends: [payout] }),
    deposits(),
  ]
  const sharesOf = (wallet: bigint, escrow = 0n) =>
    faultsOfHoldings(
      clean,
      new Map(),
      new Map([
        [WALLET, wallet],
        ['escrow AAPL', escrow],
        [`wallet ${account.address} USDC`, 0n],
        ['pool USDC', 0n],
      ]),
    )
  const bought = {
    ...caseOf({ side: 'BUY', symbol: 'AAPL', maxSpend: 0n }, {}),
    fill: { qty: 3n * HELD, avgPrice: '0' },
  }
  const portfolio = (qty: bigint, cash = 0n) =>
    faultsOfPortfolio([bought, ...clean], account, {
      portfolio: { cash, positions: { AAPL: { qty, locked: 0n } }, openOrders: {} },
    })

  test('is right where escrow, wallet and portfolio have exactly what was ordered', () => {
    expect([...clean.flatMap(faultsOfCase), ...sharesOf(2n * HELD), ...portfolio(HELD)]).toEqual([])
  })

  test.each<[string, Case]>([
    ['had no shares in escrow', deposits({ deposit: null })],
    ['had 1 AAPL in escrow', deposits({ deposit: { symbol: 'AAPL', shares: 1n } })],
    ['has ended 2 times', deposits({ ends: [settled, settled] })],
    ['is at the broker', { ...deposits(), fill: { qty: 1n, avgPrice: '1' } }],
    [
      'was refunded, and 6000000000 were filled',
      {
        ...bought,
        escrow: {
          ...deposits().escrow,
          amount: 0n,
          deposit: null,
          opens: 1,
          ends: [{ ...settled, state: 'REFUNDED' }],
        },
      },
    ],
  ])('is found out where it %s', (fault, doctored) => {
    expect(faultsOfCase(doctored)).toEqual([expect.stringMatching(new RegExp(`: ${fault}$`))])
  })

  test('is found out where wallet, escrow or portfolio have another amount', () => {
    expect(sharesOf(3n * HELD)).toEqual([`${WALLET}: ${3n * HELD} instead of ${2n * HELD}`])
    expect(sharesOf(2n * HELD, 1n)).toEqual(['escrow AAPL: 1 instead of 0'])
    expect(portfolio(0n)).toEqual([expect.stringContaining(`has 0 AAPL instead of ${HELD}`)])
    expect(portfolio(HELD, 1_000_000n)).toEqual([expect.stringContaining('has 1 in cash instead of 0')])
  })
})

describe('an opening', () => {
  const orderId = `0x${'11'.repeat(32)}` as const
  const account = `0x${'a1'.repeat(20)}` as const
  const relayer = `0x${'b2'.repeat(20)}` as const
  const own = { purpose: { kind: 'account', account } } as const
  const opened: OpeningFacts = {
    ...{ orderId, signed: { account, isTaken: true }, isPlaced: true },
    ...{ openers: [relayer], records: [own] },
  }

  test('is right where the relayer has opened its order once, or no server has taken it', () => {
    expect(faultsOf(opened, [relayer])).toEqual([])
    const signed = { account, isTaken: false }
    expect(faultsOf({ ...opened, signed, isPlaced: false, openers: [], records: [] }, [relayer])).toEqual([])
  })

  test.each<[string, Partial<OpeningFacts>]>([
    ['was opened 2 times', { openers: [relayer, relayer] }],
    ['is not open', { openers: [], records: [] }],
    ['was taken and is lost', { isPlaced: false, openers: [], records: [] }],
    ['was given up by its account, and opened all the same', { isPlaced: false }],
    [`was opened by ${account}`, { openers: [account] }],
    ['has 0 records of the relay', { records: [] }],
    ['is paid for by the platform', { records: [{ purpose: { kind: 'platform' } }] }],
  ])('is found out where it %s', (fault, changes) => {
    expect(faultsOf({ ...opened, ...changes }, [relayer])).toEqual([`the opening of ${orderId} ${fault}`])
  })
})

test('one run may begin without a cancel that is being stored, and a second one is found', () => {
  const orderId = '0x11'
  const stored = { sealed: { orderId }, cancel: { answer: 'stored', at: 100 } } as const
  const job = (runId: string, at: number, hasCancel = false) => ({ runId, at, orderId, hasCancel })
  const known = [job('a', 90), job('b', 95), job('c', 101), job('d', 120, true)]
  expect(runsWithoutCancel([stored], [...known, job('c', 125)])).toEqual([])
  expect(runsWithoutCancel([stored], [...known, job('e', 130)])).toHaveLength(1)
  const tooLate = { ...stored, cancel: { answer: 'too-late', at: 100 } } as const
  expect(runsWithoutCancel([tooLate], [...known, job('e', 130)])).toEqual([])
})

test('a run that is offered beside another of its account is listed; one that has ended and is offered again is not', async () => {
  const bench = await temporaryDirectory()
  const { overlaps, nameAccount } = await createNotes(bench)
  const [order, other] = [bytes32('an order'), bytes32('another of its account')]
  for (const orderId of [order, other]) await nameAccount(orderId, 'an account')
  const isOver = join(bench, 'over')
  const server = await startResultServer()
  const { url = '' } = await startResidentProcess({
    directory: bench,
    serverUrl: server.url,
    plan: { [order]: [{}, { untilFile: isOver }], [other]: [{ untilFile: isOver }] },
    preload: new URL('programs/enclave.mjs', import.meta.url).href,
    variables: { FAULTS_BENCH: bench, FAULTS_BENCH_PID: String(process.pid) },
  })
  // 1: a run ends. 2: the next one of its order is under way.
  const [ended, underWay] = [await orderJob({ orderId: order }), await orderJob({ orderId: order })]
  expect((await offer(url, ended)).answer).toMatchObject({ result: 'accepted' })
  await eventually('the end of the first run', () => server.results().length === 1)
  expect((await offer(url, underWay)).answer).toMatchObject({ result: 'accepted' })
  // 3: a server that stood still before it offered the first run goes on. Another one has offered that run meanwhile.
  expect((await offer(url, ended)).answer).toMatchObject({ result: 'already-accepted' })
  expect(await overlaps()).toEqual([])
  // 4 and 5: a server has lost the run, and offers a new one of the same order, then of another.
  expect((await offer(url, await orderJob({ orderId: order }))).status).toBe(409)
  expect((await offer(url, await orderJob({ orderId: other }))).answer).toMatchObject({ result: 'accepted' })
  expect(await overlaps()).toEqual(
    [order, other].map((orderId) => `${orderId} was offered beside ${order}, both of an account`),
  )
  await writeFile(isOver, '')
})

test('the same seed makes the same plan, another one another', () => {
  const faults = { step: FAULTS.step.length, broker: 20, blocks: 9 }
  const plan = (seed: number) => createPlan({ seed, lengthMs: 1_000, orders: 40, faults })
  expect(plan(7)).toEqual(plan(7))
  expect(plan(8)).not.toEqual(plan(7))
})
