import { describe, expect, onTestFinished, test } from 'vitest'
import type {
  Addition,
  Change,
  Engine,
  Fence,
  Row,
  Table,
  WriteResult,
} from '../../../../src/server/store/engine.js'
import { eventually } from '../../../support/eventually.js'
import { deleteRow, putRow, takeOver } from '../../../support/stores.js'
import { temporaryDirectory } from '../../../support/temporaryDirectory.js'

/** Opens the engine on what earlier calls with the same place have left there. */
export type OpenEngine = (place: string) => Promise<Engine>

export function rowOf(id: string, version: number, change: Partial<Row> = {}): Row {
  return { id, version, isOpen: true, uniqueKey: null, doc: JSON.stringify({ id, version }), ...change }
}

/** The contract of every engine of the stores. */
export function testEngine(name: string, openAt: OpenEngine): void {
  async function open(): Promise<Engine> {
    const engine = await openAt(await temporaryDirectory())
    onTestFinished(() => engine.stop())
    return engine
  }

  describe(`${name}: a row`, () => {
    test('is read as it was written, and only from its own table', async () => {
      const engine = await open()
      const row = rowOf('a', 1, {
        isOpen: false,
        doc: JSON.stringify('ü and \u{1f512} and \u0000 and \u001e'.repeat(9_999)),
      })
      expect(await putRow(engine, 'orders', row)).toBe('written')
      expect(await engine.get('orders', 'a')).toEqual(row)
      expect(await engine.get('relays', 'a')).toBeUndefined()
    })

    test('is read with others by their ids, where there is one', async () => {
      const engine = await open()
      const rows = ['a', 'b', "b'); DROP TABLE orders; --"].map((id) => rowOf(id, 1))
      await Promise.all(rows.map((row) => putRow(engine, 'orders', row)))
      const found = await engine.getMany('orders', ['none', ...rows.slice(1).map(({ id }) => id)])
      expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(rows.slice(1))
      expect(await engine.getMany('orders', [])).toEqual([])
    })

    test('is found by the beginning of its unique key while it is open, and behind another id once it is closed', async () => {
      const engine = await open()
      const rows = ['left:b', 'left:a', 'left', 'other', null].map((uniqueKey, index) =>
        rowOf(`${index}`, 1, { uniqueKey }),
      )
      const closed = rowOf('closed', 1, { uniqueKey: 'left:c', isOpen: false })
      await Promise.all([...rows, closed].map((row) => putRow(engine, 'relays', row)))
      expect(await engine.openWithKey('relays', 'left:', 9)).toEqual([rows[1], rows[0]])
      expect(await engine.openWithKey('relays', 'left:', 1)).toEqual([rows[1]])
      expect(await engine.openWithKey('orders', 'left:', 9)).toEqual([])
      const ended = rowOf('ended', 1, { isOpen: false })
      await putRow(engine, 'relays', ended)
      expect(await engine.closed('relays', '', 9)).toEqual([closed, ended])
      expect(await engine.closed('relays', 'closed', 1)).toEqual([ended])
      expect(await engine.closed('relays', 'ended', 9)).toEqual([])
      expect(await engine.closed('orders', '', 9)).toEqual([])
    })

    test('changes one version at a time, by one of many changes at once', async () => {
      const engine = await open()
      expect(await putRow(engine, 'runs', rowOf('a', 2))).toBe('conflict')
      for (const version of [1, 2, 3]) {
        const docs = Array.from({ length: 20 }, (_, index) => `${version} ${index}`)
        const results = await Promise.all(
          docs.map((doc) => putRow(engine, 'runs', rowOf('a', version, { doc }))),
        )
        expect(count(results)).toEqual({ written: 1, conflict: 19 })
        expect((await engine.get('runs', 'a'))?.doc).toBe(docs[results.indexOf('written')])
        expect(await putRow(engine, 'runs', rowOf('a', version + 2))).toBe('conflict')
      }
    })

    test('keeps its own document when others are written, changed and deleted in the same turn', async () => {
      const engine = await open()
      const old = ['a', 'b', 'c', 'd'].map((id) => rowOf(id, 1))
      const results = [...(await Promise.all(old.map((row) => putRow(engine, 'orders', row))))]
      const changed = [rowOf('a', 2), rowOf('d', 2), rowOf('e', 1), rowOf('f', 1)]
      results.push(
        ...(await Promise.all([
          deleteRow(engine, 'orders', 'b', 1),
          ...changed.map((row) => putRow(engine, 'orders', row)),
          deleteRow(engine, 'orders', 'c', 1),
        ])),
      )
      expect(new Set(results)).toEqual(new Set(['written']))
      const found = await engine.open('orders')
      expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(changed)
    })

    test('is deleted at its version alone, and may come again', async () => {
      const engine = await open()
      for (const version of [1, 2]) await putRow(engine, 'orders', rowOf('a', version))
      expect(await deleteRow(engine, 'orders', 'a', 1)).toBe('conflict')
      expect(await engine.get('orders', 'a')).toEqual(rowOf('a', 2))
      expect(await deleteRow(engine, 'orders', 'a', 2)).toBe('written')
      expect(await deleteRow(engine, 'orders', 'a', 2)).toBe('conflict')
      expect(await engine.get('orders', 'a')).toBeUndefined()
      expect(await putRow(engine, 'orders', rowOf('a', 1))).toBe('written')
    })

    test('is there after another start, with all that came before the stop', async () => {
      const place = await temporaryDirectory()
      const first = await openAt(place)
      const writes = Array.from({ length: 300 }, (_, index) =>
        first.transact([
          { kind: 'add', id: 'all', day: 7, used: 0n, kept: 1n },
          { kind: 'put', table: 'orders', row: rowOf(`${index}`, 1) },
        ]),
      )
      await first.stop()
      expect(count(await Promise.all(writes))).toEqual({ written: 300 })
      const second = await openAt(place)
      expect(await second.open('orders')).toHaveLength(300)
      expect(await second.get('orders', '299')).toEqual(rowOf('299', 1))
      expect(await second.sums(['all'])).toMatchObject([{ kept: 300n }])
      await second.stop()
    })
  })

  test(`${name}: open rows are read without the others, however many there are`, async () => {
    const engine = await open()
    const ids = Array.from({ length: 2_001 }, (_, index) => `${index}`)
    await Promise.all(ids.map((id) => putRow(engine, 'relays', rowOf(id, 1, { isOpen: id !== '7' }))))
    await putRow(engine, 'relays', rowOf('8', 2, { isOpen: false }))
    const found = (await engine.open('relays')).map((row) => row.id)
    expect(found.toSorted()).toEqual(ids.filter((id) => id !== '7' && id !== '8').toSorted())
    expect(await engine.open('orders')).toEqual([])
    expect((await engine.openIds('relays')).toSorted()).toEqual(found.toSorted())
  })

  describe(`${name}: a unique key`, () => {
    const held = (id: string, version: number, change: Partial<Row> = {}) =>
      rowOf(id, version, { uniqueKey: 'account', ...change })

    test('belongs to one open row of a table, and the others of its group are written', async () => {
      const engine = await open()
      const results = await Promise.all([
        putRow(engine, 'runs', held('a', 1)),
        putRow(engine, 'runs', held('b', 1)),
        putRow(engine, 'runs', rowOf('c', 1)),
        putRow(engine, 'orders', held('a', 1)),
      ])
      expect(results).toEqual(['written', 'duplicate', 'written', 'written'])
      expect(await engine.get('runs', 'b')).toBeUndefined()
    })

    test('it is free again once its row is closed or deleted', async () => {
      const engine = await open()
      await putRow(engine, 'runs', held('a', 1))
      await putRow(engine, 'runs', held('a', 2, { isOpen: false }))
      expect(await putRow(engine, 'runs', held('b', 1))).toBe('written')
      expect(await putRow(engine, 'runs', held('a', 3))).toBe('duplicate')
      await deleteRow(engine, 'runs', 'b', 1)
      expect(await putRow(engine, 'runs', held('a', 3))).toBe('written')
    })
  })

  test(`${name}: a write under a lost term changes nothing`, async () => {
    const engine = await open()
    const earlier = await takeOver(engine, 'relayer')
    expect(await putRow(engine, 'relays', rowOf('a', 1), earlier)).toBe('written')
    const later = await takeOver(engine, 'relayer')
    expect(await putRow(engine, 'relays', rowOf('a', 2), earlier)).toBe('lost-term')
    expect(await putRow(engine, 'relays', rowOf('b', 1), earlier)).toBe('lost-term')
    expect(await deleteRow(engine, 'relays', 'a', 1, earlier)).toBe('lost-term')
    expect(await engine.open('relays')).toEqual([rowOf('a', 1)])
    expect(await putRow(engine, 'relays', rowOf('a', 2), later)).toBe('written')
  })

  test(`${name}: in a group of several leases, only writes of lost terms are refused`, async () => {
    const engine = await open()
    const lost = await takeOver(engine, 'relayer')
    const [held, other] = [await takeOver(engine, 'relayer'), await takeOver(engine, 'narrator')]
    const fences = [lost, held, other, undefined, { ...held, lease: 'narrator' }]
    const results = await Promise.all(
      fences.map((fence, index) => putRow(engine, 'runs', rowOf(`${index}`, 1), fence)),
    )
    expect(results).toEqual(['lost-term', 'written', 'written', 'written', 'lost-term'])
    expect((await engine.open('runs')).map(({ id }) => id).toSorted()).toEqual(['1', '2', '3'])
  })

  testTransactions(name, open)
  testLeases(name, open)
}

function testTransactions(name: string, open: () => Promise<Engine>): void {
  const put = (table: Table, row: Row): Change => ({ kind: 'put', table, row })
  const add = (id: string, change: Partial<Addition> = {}): Addition => {
    return { kind: 'add', id, day: 7, used: 0n, kept: 0n, ...change }
  }
  const sumOf = async (engine: Engine, id: string) => (await engine.sums([id]))[0]

  describe(`${name}: a transaction`, () => {
    test('makes all of its changes, in several tables', async () => {
      const engine = await open()
      await putRow(engine, 'bookings', rowOf('old', 1))
      const doc = JSON.stringify('ü and \u{1f512} and \u0000 and \u001e and " and \\')
      const changes: Change[] = [
        add('all', { used: 5n, kept: 7n }),
        put('relays', rowOf('a', 1, { uniqueKey: 'key', doc })),
        put('relays', rowOf('a', 2, { isOpen: false })),
        put('bookings', rowOf('new', 1, { doc })),
        { kind: 'delete', table: 'bookings', id: 'old', version: 1 },
      ]
      expect(await engine.transact(changes)).toBe('written')
      expect(await engine.get('relays', 'a')).toEqual(rowOf('a', 2, { isOpen: false }))
      expect(await engine.open('bookings')).toEqual([rowOf('new', 1, { doc })])
      expect(await engine.sums(['all', 'none'])).toEqual([{ id: 'all', day: 7, used: 5n, kept: 7n }])
    })

    test.each<[WriteResult, Change]>([
      ['conflict', put('relays', rowOf('stored', 1))],
      ['conflict', put('relays', rowOf('stored', 3))],
      ['conflict', { kind: 'delete', table: 'relays', id: 'stored', version: 2 }],
      ['duplicate', put('relays', rowOf('other', 1, { uniqueKey: 'held' }))],
      ['beyond', add('other', { kept: 6n, limit: 5n })],
    ])(
      'a transaction that ends as %s makes none of its writes, and others of its turn are made',
      async (result, impossible) => {
        const engine = await open()
        await putRow(engine, 'relays', rowOf('stored', 1, { uniqueKey: 'held' }))
        expect(await engine.get('bookings', 'kept')).toBeUndefined()
        await putRow(engine, 'bookings', rowOf('kept', 1))
        const possible: Change[] = [
          add('all', { kept: 1n }),
          put('orders', rowOf('a', 1)),
          put('bookings', rowOf('kept', 2)),
        ]
        const results = await Promise.all([
          engine.transact([...possible, impossible]),
          engine.transact([add('all', { kept: 2n }), put('orders', rowOf('b', 1))]),
          engine.transact([impossible, ...possible]),
          putRow(engine, 'orders', rowOf('c', 1)),
        ])
        expect(results).toEqual([result, 'written', result, 'written'])
        expect((await engine.open('orders')).map(({ id }) => id).toSorted()).toEqual(['b', 'c'])
        expect(await engine.get('bookings', 'kept')).toEqual(rowOf('kept', 1))
        expect(await engine.open('relays')).toHaveLength(1)
        expect(await sumOf(engine, 'all')).toMatchObject({ kept: 2n })
        expect(await sumOf(engine, 'other')).toBeUndefined()
      },
    )
  })

  describe(`${name}: a sum`, () => {
    test('takes as many of many additions at once as its limit has room for', async () => {
      const engine = await open()
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          engine.transact([add('all', { kept: 3n, limit: 100n }), put('orders', rowOf(`${index}`, 1))]),
        ),
      )
      expect(results.filter((result) => result === 'written')).toHaveLength(33)
      expect(results.filter((result) => result === 'beyond')).toHaveLength(7)
      expect(await engine.open('orders')).toHaveLength(33)
      expect(await sumOf(engine, 'all')).toMatchObject({ used: 0n, kept: 99n })
      expect(await engine.transact([add('all', { used: 1n, limit: 100n })])).toBe('written')
      expect(await engine.transact([add('all', { used: 1n, limit: 100n })])).toBe('beyond')
      expect(await engine.transact([add('all', { used: 10n ** 15n })])).toBe('written')
      expect(await engine.transact([add('all', { kept: -99n, limit: 10n ** 15n + 1n })])).toBe('written')
    })

    test('has its limit lifted for the first that comes, and never falls below zero', async () => {
      const engine = await open()
      const large = add('account', { kept: 9n, limit: 5n, exempt: 0n })
      expect(await engine.transact([large])).toBe('written')
      expect(await engine.transact([large])).toBe('beyond')
      expect(await engine.transact([{ ...large, exempt: 9n }])).toBe('written')
      expect(await engine.transact([add('account', { kept: -100n })])).toBe('written')
      expect(await sumOf(engine, 'account')).toMatchObject({ kept: 0n })
    })

    test('begins a later day without what was used, and keeps the rest; a clock that is behind begins no day', async () => {
      const engine = await open()
      await engine.transact([add('all', { used: 60n, kept: 30n })])
      const next = add('all', { day: 8, used: 70n, limit: 100n })
      expect(await engine.transact([next])).toBe('written')
      expect(await sumOf(engine, 'all')).toEqual({ id: 'all', day: 8, used: 70n, kept: 30n })
      expect(await engine.transact([{ ...next, day: 7, used: 1n }])).toBe('beyond')
      await engine.transact([add('all', { used: 5n })])
      expect(await sumOf(engine, 'all')).toEqual({ id: 'all', day: 8, used: 75n, kept: 30n })
      // Of another year, its clock is wrong.
      await engine.transact([add('all', { day: 400, used: 1n })])
      await engine.transact([add('all', { day: 8, used: 2n })])
      expect(await sumOf(engine, 'all')).toEqual({ id: 'all', day: 8, used: 2n, kept: 30n })
    })
  })
}

function testLeases(name: string, open: () => Promise<Engine>): void {
  describe(`${name}: a lease`, () => {
    const LONG = 60_000
    const SHORT = 40

    /** Takes the lease once another holder's has expired. */
    async function takeLate({ leases }: Engine, lease: string, holder: string): Promise<Fence> {
      return eventually('the lease expires', () => leases.take(lease, holder, LONG))
    }

    test('has one holder, which renews it', async () => {
      const engine = await open()
      const { leases } = engine
      const takes = await Promise.all(['a', 'b', 'c'].map((holder) => leases.take('trigger', holder, LONG)))
      const [fence, ...others] = takes.filter((taken) => taken !== undefined)
      expect(others).toEqual([])
      expect(fence !== undefined && (await leases.renew(fence, LONG))).toBe(true)
      expect(await leases.take('trigger', 'd', LONG)).toBeUndefined()
      expect(await leases.take('narrator', 'd', LONG)).toBeDefined()
      const kept = await takeOver(engine, 'trigger')
      expect(await leases.take('trigger', 'd', LONG)).toBeUndefined()
      expect((await leases.list()).find(({ lease }) => lease === 'trigger')).toMatchObject(kept)
    })

    test('an expired lease is renewed until another holder takes it, under a term of its own', async () => {
      const engine = await open()
      const { leases } = engine
      const first = await takeLate(engine, 'trigger', 'a')
      await leases.renew(first, SHORT)
      await eventually('the lease expires', async () => ((await leases.list())[0]?.expiresInMs ?? 1) <= 0)
      expect(await leases.renew(first, SHORT)).toBe(true)
      const second = await takeLate(engine, 'trigger', 'b')
      expect(second.term).not.toBe(first.term)
      expect(await leases.renew(first, LONG)).toBe(false)
      expect(await putRow(engine, 'runs', rowOf('x', 1), first)).toBe('lost-term')
      expect(await putRow(engine, 'runs', rowOf('x', 1), second)).toBe('written')
    })

    test('a released lease is free at once, and its term is over', async () => {
      const engine = await open()
      const { leases } = engine
      const first = await takeLate(engine, 'trigger', 'a')
      await leases.release(first)
      expect(await leases.renew(first, LONG)).toBe(false)
      expect(await putRow(engine, 'runs', rowOf('x', 1), first)).toBe('lost-term')
      const second = await leases.take('trigger', 'b', LONG)
      await leases.release(first)
      expect(await putRow(engine, 'runs', rowOf('x', 1), second)).toBe('written')
    })

    test('is listed with its holder and what is left of it', async () => {
      const engine = await open()
      const { leases } = engine
      expect(await leases.list()).toEqual([])
      const [trigger, narrator] = [
        await leases.take('trigger', 'a', LONG),
        await leases.take('narrator', 'b', 0),
      ]
      const listed = await leases.list()
      expect(listed).toMatchObject([
        { ...narrator, holder: 'b' },
        { ...trigger, holder: 'a' },
      ])
      const [past = 1, left = 0] = listed.map(({ expiresInMs }) => expiresInMs)
      expect(past).toBeLessThanOrEqual(0)
      expect(left).toBeGreaterThan(LONG / 2)
      expect(left).toBeLessThanOrEqual(LONG)
    })
  })
}

export function count(results: readonly WriteResult[]): Partial<Record<WriteResult, number>> {
  const counts: Partial<Record<WriteResult, number>> = {}
  for (const result of results) counts[result] = (counts[result] ?? 0) + 1
  return counts
}
